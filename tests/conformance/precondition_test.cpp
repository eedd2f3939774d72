// z := M^-1 r of every backend against the reference.

#include "conformance/test_preconditioner.hpp"

namespace cnc::testing {
namespace {

constexpr index_t lengths[] = {0, 1, 2, 7, 16, 17, 33, 511, 512, 513, 1025, 2100};

template <class V>
void check_precision(const Backend& backend, Findings& findings) {
  if (!findings.offered(vector_ops<V>(backend).precondition, "precondition")) return;
  for (int threads = 1; threads <= most_threads(backend); ++threads)
    for (const Alignment alignment : {Alignment::even, Alignment::odd})
      for (const index_t n : lengths)
        for (const TestPreconditioner<V>& M : test_preconditioners<V>(n, alignment)) {
          GuardedVector<V> r(n, alignment), z(n, alignment), expected(n, alignment);
          r.randomize(2);
          const TestQueue queue(backend, n, threads), oracle(reference(), n, 1);
          const GuardedVector<V>& from = r;
          vector_ops<V>(backend).precondition(queue, n, M.in(queue), queue(from), queue(z));
          queue.finish();
          vector_ops<V>(reference())
              .precondition(oracle, n, M.in(oracle), oracle(from), oracle(expected));
          std::vector<double> sizes;
          for (index_t i = 0; i < n; ++i) sizes.push_back(std::abs(double(r[i])));
          findings.compare(
              difference(z, expected,
                         [&](index_t i) {
                           return sum_tolerance<V>(M.block_size(), M.absolute_product(sizes, n, i));
                         }),
              [&] { return "precondition, " + M.name() + ", n = " + std::to_string(n); });
        }
}

void check_precondition(const Backend& backend, Findings& findings) {
  check_precision<float>(backend, findings);
  check_precision<double>(backend, findings);
}

CNC_CONFORMANCE_TEST("precondition", check_precondition);

}  // namespace
}  // namespace cnc::testing
