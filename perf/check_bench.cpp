// What does the check of a CSR matrix at the door cost, beside a product with it?

#include "harness/bench.hpp"
#include "harness/check.hpp"

#include <cnc/spmv.hpp>

#include <utility>

namespace cnc::perf {
namespace {

void measure(const TestMatrix& matrix, const CsrMatrix<double>& A, const BenchOptions& options,
             Record& record) {
  tell(matrix.name);
  Context<> ctx("auto", options.threads);
  const Vector<double> x = random_vector<double>(A.cols, 1);
  const Vector<double> y("y", static_cast<std::size_t>(A.rows));
  std::vector<Contestant> contestants;
  const auto add = [&](const char* name, bool check, const Cost& cost,
                       const std::function<void()>& work) {
    Entry entry;
    entry.contestant = name;
    entry.automatic = check;
    entry.peer = !check;  // "speedup" is then the product's time over the check's
    entry.cost = cost;
    entry.error = 0;
    contestants.push_back({std::move(entry), repeat(work, options.measure)});
  };
  const double indices =
      sizeof(index_t) * (double(A.row_offsets.extent(0)) + double(A.columns.extent(0)));
  add("check", true, {indices, 0}, [&] { A.validate(); });
  add("csr product", false, A.spmv_cost(sizeof(double)), [&] {
    spmv(ctx, 1.0, A, x, 0.0, y);
    ctx.fence();
  });
  Group group{matrix.name, "f64", double(A.rows), double(A.nonzeros), 0, false, {}};
  measure_group(std::move(contestants), options.measure, group);
  record.groups.push_back(std::move(group));
}

void run(const BenchOptions& options, Record& record) {
  for (const std::string& source : matrix_sources(options.matrices)) {
    const TestMatrix matrix = load_matrix(source);
    measure(matrix, matrix.A, options, record);
  }
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  return cnc::perf::run_bench(argc, argv,
                              {"check",
                               "time of the check of a CSR matrix at the door, beside a product",
                               true,
                               {},
                               cnc::perf::run});
}
