// Rows gathered by the processor's instruction and by loads, whatever this processor prefers: sliced ones have the same bits, those of CSR,
// which go by other widths then, the same numbers to what rounding leaves.

#include "support/catch.hpp"
#include "support/scoped_value.hpp"

#include <cnc/backend.hpp>
#include <cnc/convert.hpp>
#include <cnc/formats.hpp>
#include <cnc/problems.hpp>
#include <cnc/spmv.hpp>

#include <openmp/gathers.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

using namespace cnc;
using cnc::testing::ScopedValue;

namespace {

template <class V>
Vector<V> product(const Context<>& ctx, const Matrix<V>& A, const Vector<V>& x,
                  bool by_instruction) {
  const ScopedValue scope(openmp::gathers_are_fast, by_instruction);
  const Vector<V> y("y", x.extent(0));
  spmv(ctx, V(1), A, x, V(0), y);
  ctx.fence();
  return y;
}

template <class V>
void check(const char* backend) {
  CAPTURE(backend, sizeof(V));
  const Context<> ctx(backend);
  for (const char* problem : {"trefethen:700", "wathen:9x7", "poisson2d:23x41"}) {
    const CsrMatrix<V> A = convert_values<V>(generate_problem(problem));
    const Vector<V> x("x", static_cast<std::size_t>(A.cols));
    for (index_t i = 0; i < A.cols; ++i) x(i) = V(1) / V(i + 3);
    const Matrix<V> slices = build_format(A, {"bsell", 1});
    const Vector<V> gathered = product(ctx, slices, x, true),
                    loaded = product(ctx, slices, x, false);
    CHECK(std::memcmp(gathered.data(), loaded.data(), sizeof(V) * gathered.extent(0)) == 0);
    CHECK(gathered(0) != V(0));
    for (const bool by_instruction : {true, false}) {
      const Vector<V> by_rows = product(ctx, Matrix<V>(A), x, by_instruction);
      for (index_t i = 0; i < A.rows; ++i) {
        double size = 0;
        for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
          size += std::abs(double(A.values(k)) * double(x(A.columns(k))));
        if (!(std::abs(double(by_rows(i)) - double(gathered(i))) <=
              64 * double(std::numeric_limits<V>::epsilon()) * size))
          FAIL_CHECK("row " << i << ": " << by_rows(i) << " and " << gathered(i));
      }
    }
  }
}

}  // namespace

TEST_CASE("rows are the same however they are gathered") {
  for (const Backend* const backend : backends())
    if (std::string_view(backend->name).starts_with("openmp") &&
        backend->memory == MemorySpace::host && availability_of(*backend).usable) {
      check<double>(backend->name);
      check<float>(backend->name);
    }
}
