#include "convert/device_space.hpp"
#include "support/catch.hpp"
#include "support/edge_matrices.hpp"
#include "support/same_matrix.hpp"

#include <cnc/copy.hpp>
#include <cnc/formats.hpp>
#include <cnc/preconditioner.hpp>
#include <cnc/problems.hpp>

// Set-up in device memory against the host's. portable_setup_test.cpp tests the same code more closely.

using namespace cnc;
using namespace cnc::testing;

#ifndef CNC_KOKKOS_HAS_DEVICE

TEST_CASE("set-up on a device equals the host's") { CNC_SKIP("this Kokkos has no device"); }

#else

namespace {

using detail::DeviceSpace;

template <class T>
bool same_layout(const BcsrMatrix<T>& A, const BcsrMatrix<T, DeviceSpace>& B) {
  return same_matrix(A, copy_to<HostSpace>(B));
}
template <class T>
bool same_layout(const BsellMatrix<T>& A, const BsellMatrix<T, DeviceSpace>& B) {
  return A.rows == B.rows && A.cols == B.cols && A.block_size == B.block_size &&
         A.slice_height == B.slice_height && A.sort_window == B.sort_window &&
         A.nonzeros == B.nonzeros &&
         same_entries(A.slice_offsets, copy_to<HostSpace>(B.slice_offsets)) &&
         same_entries(A.columns, copy_to<HostSpace>(B.columns)) &&
         same_entries(A.row_permutation, copy_to<HostSpace>(B.row_permutation)) &&
         same_entries(A.values, copy_to<HostSpace>(B.values));
}
template <class T>
bool same_layout(const DiaMatrix<T>& A, const DiaMatrix<T, DeviceSpace>& B) {
  return A.rows == B.rows && A.cols == B.cols && A.symmetric == B.symmetric &&
         A.nonzeros == B.nonzeros && same_entries(A.offsets, copy_to<HostSpace>(B.offsets)) &&
         same_entries(A.values, copy_to<HostSpace>(B.values));
}

/// Refuses on both sides, or gives the same layout, which leads back to A and takes new values.
template <class T, class Build>
void check_layout(const CsrMatrix<T>& A, const Build& build) {
  const auto D = copy_to<DeviceSpace>(A);
  bool refused = false;
  try {
    build(A);
  } catch (const InvalidArgument&) {
    refused = true;
    CHECK_THROWS_AS(build(D), InvalidArgument);
  }
  if (refused) return;
  const auto host = build(A);
  auto device = build(D);
  CHECK(same_layout(host, device));
  CHECK_NOTHROW(device.validate());
  CHECK(same_layout(to_csr(host), to_csr(device)));
  Kokkos::deep_copy(device.values, T(-7));
  update_values(device, copy_to<DeviceSpace>(A));
  CHECK(same_layout(host, device));
}

template <class T>
void check_preconditioner(const CsrMatrix<T>& A, const CsrMatrix<T, DeviceSpace>& D,
                          PreconditionerKind kind, int block_size) {
  Preconditioner<T> host;
  Preconditioner<T, DeviceSpace> device;
  const auto expected = set_up_preconditioner(A, kind, block_size, host);
  const auto found = set_up_preconditioner(D, kind, block_size, device);
  CHECK(found.row == expected.row);
  CHECK(found.singular_block == expected.singular_block);
  const auto inverse = copy_to<HostSpace>(device.inverse);
  REQUIRE(inverse.extent(0) == host.inverse.extent(0));
  // Devices contract products and sums.
  for (std::size_t k = 0; k < inverse.extent(0); ++k)
    REQUIRE(inverse(k) == Approx(host.inverse(k)).epsilon(1e-5).margin(1e-5));
}

}  // namespace

TEMPLATE_TEST_CASE("set-up on a device equals the host's", "", float, double) {
  using T = TestType;
  auto list = edge_matrices<T>();
  for (const char* problem : {"poisson2d:45x47", "wathen:9x8", "elasticity3d:3"})
    list.push_back({problem, convert_values<T>(generate_problem(problem))});
  for (const auto& matrix : list) {
    const auto& name = matrix.name;
    const auto& A = matrix.A;  // a structured binding could not go into lambdas
    INFO(name);
    const auto D = copy_to<DeviceSpace>(A);
    const Structure host = analyze(A), device = analyze(D);
    CHECK(device.diagonals == host.diagonals);
    CHECK(device.longest_row == host.longest_row);
    CHECK(device.row_deviation == host.row_deviation);
    CHECK(device.value_symmetric == host.value_symmetric);
    CHECK(device.asymmetry == host.asymmetry);
    for (std::size_t k = 0; k < host.occupancy.size(); ++k)
      CHECK(device.occupancy[k].blocks == host.occupancy[k].blocks);
    for (const int b : {1, 2, 3, 7, 16}) {
      INFO("blocks of " << b);
      check_layout(A, [=](const auto& a) { return to_bcsr(a, b); });
      check_layout(A, [=](const auto& a) { return to_bsell(a, b, 32, 256); });
      check_layout(A, [=](const auto& a) { return to_bsell(a, b, 5, 1000); });
      if (A.rows == A.cols) check_preconditioner(A, D, PreconditionerKind::block_jacobi, b);
    }
    for (const bool symmetric : {false, true})
      check_layout(A, [=](const auto& a) { return to_dia(a, symmetric); });
    CHECK(same_layout(convert_values<float>(A), convert_values<float>(D)));
    CHECK(nonzeros(build_format(D, FormatSpec{})) == A.nonzeros);
    CHECK(to_bsell(D).slice_height == device_slice_height);
  }
}

TEST_CASE("set-up on a device refuses a matrix that is not valid") {
  const auto A = copy_to<HostSpace>(random_csr<double>(300, 300, 6, 9, banded));
  const_cast<index_t*>(A.columns.data())[700] = 400;
  const auto D = copy_to<DeviceSpace>(A);
  std::string text;
  try {
    A.validate();
  } catch (const InvalidArgument& error) {
    text = error.what();
  }
  CHECK_THROWS_WITH(D.validate(), text);
  CHECK_THROWS_WITH(to_bsell(D), text);
  CHECK_THROWS_AS(analyze(D), InvalidArgument);
}

#endif
