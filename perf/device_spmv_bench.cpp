// How fast is y := A x on a device in every backend, format and precision, beside other libraries?

#include "harness/on_device.hpp"
#include "harness/precisions.hpp"

#include <cnc/spmv.hpp>

namespace cnc::perf {
namespace {

constexpr std::uint64_t seed = 1;

/// What all contestants of a group work on.
template <class M, class V>
struct Operands {
  CsrMatrix<M, DeviceSpace> A;
  Vector<V, DeviceSpace> x;
  ExpectedProduct expected;
};

/// What products may read in place of a layout's own arrays.
template <class SparseMatrix>
std::string read_beside(const SparseMatrix& A) {
  if (!A.dictionary.empty()) return " rows";
  std::string beside;
  if constexpr (requires { A.short_columns; })
    if (A.short_columns.extent(0) > 0) beside += " short";
  if constexpr (requires { A.value_table; })
    if (!A.value_table.empty()) beside += " table";
  return beside;
}

/// Checks the product once, then lines it up. What a backend does not offer is left out.
template <class M, class V>
void add_backend(const DeviceContext& ctx, const std::shared_ptr<const Matrix<M, DeviceSpace>>& A,
                 const FormatSpec& format, bool automatic, const Operands<M, V>& operands,
                 const BenchOptions& options, std::vector<Contestant>& contestants) {
  const Backend& backend = ctx.backend();
  Entry entry;
  entry.peer = backend.baseline;
  entry.automatic = automatic && is_automatic(backend);
  entry.backend = backend.name;
  entry.format = format.text() + std::visit([](const auto& a) { return read_beside(a); }, *A);
  entry.contestant = backend.name + (" " + entry.format);
  entry.cost = spmv_cost(*A, sizeof(V));
  const auto y = zeroed<V, DeviceSpace>("y", static_cast<std::size_t>(operands.A.rows));
  const auto plan = std::make_shared<std::unique_ptr<MatrixPlan>>();
  const auto product = [&ctx, A, plan, x = operands.x, y] {
    spmv(ctx, V(1), *A, x, V(0), y, plan->get());
  };
  try {
    *plan = plan_spmv<V>(ctx, *A);
    product();
  } catch (const UnsupportedOperation&) {
    return;
  }
  ctx.fence();
  entry.error = check_product(operands.expected, copy_to<HostSpace>(y), entry.contestant);
  contestants.push_back({std::move(entry), repeat_enqueued(
                                               product, [&ctx] { ctx.fence(); }, options.measure)});
}

template <class M, class V>
void measure(const TestMatrix& matrix, const CsrMatrix<M>& A, const std::string& precision,
             const BenchOptions& options, Record& record) {
  tell(matrix.name + " " + precision);
  const Operands<M, V> operands{copy_to<DeviceSpace>(A),
                                copy_to<DeviceSpace>(random_vector<V>(A.cols, seed)),
                                expected_product(A, seed)};
  FormatsToTime formats = formats_to_time(matrix.structure, sizeof(M), MemorySpace::device);
  formats.all.push_back({"bsell-unsorted", 1});
  const auto contexts = device_contexts(options);
  std::vector<Contestant> contestants;
  double automatic_bytes = 0;
  for (const FormatSpec& format : formats.all) {
    const auto layout =
        std::make_shared<const Matrix<M, DeviceSpace>>(device_layout(operands.A, format));
    const bool automatic = format == formats.automatic;
    // What solvers take where a matrix is narrow, where its values are few, and where rows repeat.
    const auto with_short_columns = std::make_shared<Matrix<M, DeviceSpace>>(*layout);
    const bool is_narrow = find_short_columns(*with_short_columns);
    const auto with_table = std::make_shared<Matrix<M, DeviceSpace>>(*with_short_columns);
    const bool has_few_values = find_value_table(*with_table);
    if (automatic) automatic_bytes = spmv_cost(*with_table, sizeof(V)).bytes;
    const auto with_dictionary = std::make_shared<Matrix<M, DeviceSpace>>(*layout);
    const bool repeats = automatic && find_row_dictionary(*with_dictionary, operands.A);
    for (const auto& ctx : contexts) {
      if (!takes(ctx->backend(), format)) continue;
      const bool reads_rows = repeats && ctx->backend().dictionaries == ReadsDictionaries::as_rows;
      const bool reads_short = is_narrow && ctx->backend().short_columns;
      const bool reads_table = has_few_values && ctx->backend().value_tables;
      const bool takes_table = reads_table && format.name == "csr" &&
                               operands.A.stored() >= ctx->backend().least_table_values;
      const auto add = [&](const auto& of, bool taken) {
        add_backend<M, V>(*ctx, of, format, taken, operands, options, contestants);
      };
      add(layout, automatic && !reads_rows && !reads_short && !takes_table);
      if (reads_short) add(with_short_columns, automatic && !reads_rows && !takes_table);
      if (reads_table) add(with_table, takes_table && automatic && !reads_rows);
      if (reads_rows) add(with_dictionary, true);
    }
  }
  Group group{matrix.name, precision, double(A.rows), double(A.nonzeros), 0, false, {}};
  group.out_of_cache = automatic_bytes > beyond_device_caches;
  const double before = bandwidth_at(automatic_bytes, options, MemorySpace::device);
  measure_group(std::move(contestants), options.measure, group);
  group.bandwidth = std::max(before, bandwidth_at(automatic_bytes, options, MemorySpace::device));
  record.groups.push_back(std::move(group));
}

void run(const BenchOptions& options, Record& record) {
  for (const std::string& source : matrix_sources(options.matrices)) {
    const TestMatrix matrix = load_matrix(source);
    for_each_product_precision(
        matrix, options, record,
        [&]<class M, class V>(const CsrMatrix<M>& A, V, const char* precision) {
          measure<M, V>(matrix, A, precision, options, record);
        });
  }
}

}  // namespace
}  // namespace cnc::perf

int main(int argc, char** argv) {
  return cnc::perf::run_bench(
      argc, argv,
      {"device_spmv",
       "time of y := A x on a device by backend, format and precision, beside other libraries",
       true,
       {},
       cnc::perf::run,
       cnc::MemorySpace::device});
}
