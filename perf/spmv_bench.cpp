// How fast is y := A x in every backend, format and precision, beside other libraries?

#include "harness/bench.hpp"
#include "harness/check.hpp"
#include "harness/precisions.hpp"
#include "peers/peers.hpp"

#include <cnc/spmv.hpp>

#include <memory>
#include <utility>

namespace cnc::perf {
namespace {

constexpr std::uint64_t seed = 1;

/// What all contestants of a group work on.
template <class M, class V>
struct Operands {
  const CsrMatrix<M>& A;
  Vector<V> x;
  ExpectedProduct expected;
  Cost csr_cost;
  std::vector<Contestant>& contestants;
  const BenchOptions& options;

  Operands(const CsrMatrix<M>& matrix, std::vector<Contestant>& lined_up, const BenchOptions& given)
      : A(matrix),
        x(random_vector<V>(matrix.cols, seed)),
        expected(expected_product(matrix, seed)),
        csr_cost(matrix.spmv_cost(sizeof(V))),
        contestants(lined_up),
        options(given) {}

  /// Runs it once, checks the result, then lines it up.
  void add(Entry entry, const std::function<void(V*)>& product) {
    const Vector<V> y("y", static_cast<std::size_t>(A.rows));
    product(y.data());
    entry.error = check_product(expected, y, entry.contestant);
    contestants.push_back(
        {std::move(entry), repeat([product, y] { product(y.data()); }, options.measure)});
  }
};

/// One of our backends on one layout. Baseline backends count as peers and take CSR alone.
template <class M, class V>
void add_backend(const Context<>& ctx, const std::shared_ptr<const Matrix<M>>& layout,
                 const std::string& format, bool automatic, Operands<M, V>& operands) {
  const Backend& backend = ctx.backend();
  if (backend.baseline && format != "csr") return;
  Entry entry;
  entry.peer = backend.baseline;
  entry.automatic = automatic && is_automatic(backend);
  entry.contestant = backend.baseline ? backend.name : backend.name + (" " + format);
  entry.backend = backend.name;
  entry.format = format;
  entry.cost = spmv_cost(*layout, sizeof(V));
  const Vector<V> x = operands.x;
  const std::size_t rows = static_cast<std::size_t>(operands.A.rows);
  try {
    const std::shared_ptr<const MatrixPlan> plan = plan_spmv<V>(ctx, *layout);
    operands.add(std::move(entry), [&ctx, layout, plan, x, rows](V* y) {
      spmv(ctx, V(1), *layout, x, V(0), Vector<V>(y, rows), plan.get());
      ctx.fence();
    });
  } catch (const UnsupportedOperation&) {
    // Not offered: nothing to time.
  }
}

template <class M>
CsrArrays<M> arrays(const CsrMatrix<M>& A) {
  return {A.rows, A.cols, A.row_offsets.data(), A.columns.data(), A.values.data()};
}

/// `suffix` tells peers of another precision apart; their matrix may differ from the operands' one.
template <class M, class V, class PeerM>
void add_peers(const CsrMatrix<PeerM>& A, int block_size, const std::string& suffix,
               Operands<M, V>& operands) {
  for (const SpmvPeer<V>& peer :
       spmv_peers<PeerM, V>(arrays(A), block_size, operands.options.threads)) {
    Entry entry;
    entry.peer = true;
    entry.contestant = peer.name + suffix;
    entry.cost = A.spmv_cost(sizeof(V));
    const Vector<V> x = operands.x;
    operands.add(std::move(entry), [multiply = peer.multiply, x](V* y) { multiply(x.data(), y); });
  }
}

template <class M, class V>
void measure(const TestMatrix& matrix, const CsrMatrix<M>& A, const std::string& precision,
             const BenchOptions& options, Record& record) {
  tell(matrix.name + " " + precision);
  std::vector<Contestant> contestants;
  Operands<M, V> operands(A, contestants, options);
  const auto contexts = contexts_to_time(options);
  const FormatsToTime formats = formats_to_time(matrix.structure, sizeof(M));
  double automatic_bytes = operands.csr_cost.bytes;
  for (const FormatSpec& format : formats.all) {
    const auto layout = std::make_shared<const Matrix<M>>(build_format(A, format));
    const bool automatic = format == formats.automatic;
    if (automatic) automatic_bytes = spmv_cost(*layout, sizeof(V)).bytes;
    // What solvers take where rows repeat.
    const auto with_dictionary = std::make_shared<Matrix<M>>(*layout);
    const bool repeats =
        automatic && find_row_dictionary(*with_dictionary, A) &&
        std::visit([](const auto& a) { return a.dictionary.runs.extent(0) > 0; }, *with_dictionary);
    for (const auto& ctx : contexts) {
      const bool reads_it = repeats && ctx->backend().dictionaries != ReadsDictionaries::no;
      add_backend<M, V>(*ctx, layout, format.text(), automatic && !reads_it, operands);
      if (!reads_it) continue;
      add_backend<M, V>(*ctx, with_dictionary, format.text() + " rows", true, operands);
      if (is_automatic(ctx->backend()))
        automatic_bytes = spmv_cost(*with_dictionary, sizeof(V)).bytes;
    }
  }
  const int block_size = peer_block_size(matrix.structure);
  add_peers(A, block_size, "", operands);
  // Under double vectors the usual peer is the one with a double matrix. It is checked against the
  // product of the float matrix, so it gets those values; its speed does not depend on them.
  if constexpr (sizeof(M) < sizeof(V))
    add_peers(convert_values<V>(A), block_size, " (f64)", operands);

  Group group{matrix.name, precision, double(A.rows), double(A.nonzeros), 0, false, {}};
  group.out_of_cache = automatic_bytes > static_cast<double>(last_level_cache_bytes());
  const double before = bandwidth_at(automatic_bytes, options);
  measure_group(std::move(contestants), options.measure, group);
  group.bandwidth = std::max(before, bandwidth_at(automatic_bytes, options));
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
      {"spmv",
       "time of y := A x by backend, format and precision, beside other libraries",
       true,
       {},
       cnc::perf::run});
}
