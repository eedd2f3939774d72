// Sliced rows gathered by the processor's instruction and by loads: the same bits, whatever this processor prefers.

#include "support/catch.hpp"

#include <cnc/backend.hpp>
#include <cnc/convert.hpp>
#include <cnc/formats.hpp>
#include <cnc/problems.hpp>
#include <cnc/spmv.hpp>

#include <openmp/gathers.hpp>

#include <cstring>
#include <string_view>
#include <utility>

using namespace cnc;

namespace {

template <class V>
Vector<V> product(const Context<>& ctx, const CsrMatrix<V>& A, bool by_instruction) {
  const bool before = std::exchange(openmp::gathers_are_fast, by_instruction);
  const Vector<V> x("x", static_cast<std::size_t>(A.cols)),
      y("y", static_cast<std::size_t>(A.rows));
  for (index_t i = 0; i < A.cols; ++i) x(i) = V(1) / V(i + 3);
  spmv(ctx, V(1), build_format(A, {"bsell", 1}), x, V(0), y);
  ctx.fence();
  openmp::gathers_are_fast = before;
  return y;
}

template <class V>
void check(const char* backend) {
  CAPTURE(backend, sizeof(V));
  const Context<> ctx(backend);
  for (const char* problem : {"trefethen:700", "wathen:9x7", "poisson2d:23x41"}) {
    const CsrMatrix<V> A = convert_values<V>(generate_problem(problem));
    const Vector<V> gathered = product(ctx, A, true), loaded = product(ctx, A, false);
    CHECK(std::memcmp(gathered.data(), loaded.data(), sizeof(V) * gathered.extent(0)) == 0);
    CHECK(gathered(0) != V(0));
  }
}

}  // namespace

TEST_CASE("sliced rows have the same bits however they are gathered") {
  for (const Backend* const backend : backends())
    if (std::string_view(backend->name).starts_with("openmp") &&
        backend->memory == MemorySpace::host && availability_of(*backend).usable) {
      check<double>(backend->name);
      check<float>(backend->name);
    }
}
