#include "compare_measure.hpp"

#include "compare_matrix.hpp"
#include "text.hpp"

#include <cnc/blas1.hpp>
#include <cnc/copy.hpp>

#include <algorithm>

namespace cnc::cli {
namespace {

using Tell = std::function<void(const std::string&)>;

/// body(ctx) with a context for each of them, in the memory of Exec.
template <class Exec, class Body>
void for_each_context(const CompareRequest& request, const Body& body) {
  for (const Backend* backend : chosen_backends(request, memory_of<typename Exec::memory_space>)) {
    Context<Exec> ctx(backend->name, request.threads);
    ctx.set_block_threads(request.block_threads);
    body(ctx);
  }
}

/// What stands beside every figure of a context.
template <class Exec>
Row row_of(const Context<Exec>& ctx, Precision precision) {
  const auto threads = ctx.backend().threads;
  return {precision, &ctx.backend(), threads != nullptr ? threads(ctx.queue()) : 1};
}

double predicted_bytes(const Structure& structure, const FormatSpec& spec) {
  for (const FormatInfo<double>& format : formats<double>())
    if (spec.name == format.name) return format.predicted_bytes(structure, spec, sizeof(double));
  return -1;
}

/// Of the comparable formats those that could win: all without blocks, and block sizes that take
/// fewer bytes than CSR does.
std::vector<FormatSpec> promising_formats(const Structure& structure) {
  std::vector<FormatSpec> promising;
  const double csr = predicted_bytes(structure, FormatSpec{"csr", 1});
  for (const FormatSpec& spec : comparable_formats(structure))
    if (spec.block_size == 1 || predicted_bytes(structure, spec) < csr) promising.push_back(spec);
  return promising;
}

Vector<double> reference_product(const CsrMatrix<double>& A, const CompareRequest& request) {
  const Context<> ctx("reference", request.threads);
  Vector<double> y("y", static_cast<std::size_t>(A.rows));
  spmv(ctx, 1.0, A, random_vector<double>(A.cols, 1), 0.0, y);
  ctx.fence();
  return y;
}

/// All backends of one memory on one format. PCG takes the matrix in the precision of its vectors and
/// narrows it.
template <class Exec, class M, class V>
void measure_format(const CsrMatrix<M>& A, const CsrMatrix<V>& for_pcg, const FormatSpec& format,
                    Precision precision, const Vector<double>& expected,
                    const CompareRequest& request, const Tell& tell, Comparison& result) {
  using Space = typename Exec::memory_space;
  if (chosen_backends(request, memory_of<Space>).empty()) return;
  const auto storage = sizeof(M) < sizeof(V) ? StoragePrecision::f32 : StoragePrecision::as_vectors;
  const Matrix<M, Space> built = build_format(copy_to<Space>(A), format);
  const CsrMatrix<V, Space> given = copy_to<Space>(for_pcg);
  for_each_context<Exec>(request, [&](Context<Exec>& ctx) {
    tell(std::string(to_string(precision)) + " " + format.text() + " " + ctx.backend().name);
    MatrixRow row{row_of(ctx, precision), format.text(), {}, {}};
    row.spmv = measure_spmv<V, M>(ctx, built, expected, request);
    if (A.rows == A.cols && row.spmv.timing.measured())
      row.pcg = measure_pcg<V>(ctx, given, format, storage, row.spmv.cost, request);
    result.matrix_rows.push_back(std::move(row));
  });
}

/// All formats in one precision. A matrix that float cannot hold is left out with a note.
void measure_precision(const CsrMatrix<double>& A, Precision precision,
                       const Vector<double>& expected, const CompareRequest& request,
                       const Tell& tell, Comparison& result) {
  const auto for_each_format = [&](const auto& stored, const auto& for_pcg) {
    for (const FormatSpec& format : request.formats)
      for_each_memory([&]<class Exec>(std::type_identity<Exec>) {
        measure_format<Exec>(stored, for_pcg, format, precision, expected, request, tell, result);
      });
  };
  if (precision == Precision::f64) return for_each_format(A, A);
  CsrMatrix<float> narrow;
  try {
    narrow = convert_values<float>(A);
  } catch (const InvalidArgument& e) {
    result.notes.push_back(std::string(to_string(precision)) + " left out: " + e.what());
    return;
  }
  if (precision == Precision::f32)
    for_each_format(narrow, narrow);
  else
    for_each_format(narrow, A);
}

template <class V, class Exec>
Measurement measure_axpy(Context<Exec>& ctx, index_t n, const CompareRequest& request) {
  using Space = typename Exec::memory_space;
  const Vector<V> host_x = random_vector<V>(n, 3), host_y = random_vector<V>(n, 4);
  const V alpha = V(0.0078125);  // a power of two: exact in both precisions
  Vector<double> expected("expected", host_y.extent(0));
  for (std::size_t i = 0; i < host_y.extent(0); ++i)
    expected(i) = static_cast<double>(alpha) * static_cast<double>(host_x(i)) +
                  static_cast<double>(host_y(i));
  const Vector<V, Space> x = copy_to<Space>(host_x), y = copy_to<Space>(host_y);
  Measurement result;
  axpy(ctx, alpha, x, y);
  ctx.fence();
  result.error = relative_error(copy_to<HostSpace>(y), expected);
  result.cost = cost::vectors(n, 3, 2, sizeof(V));
  result.working_set = 2.0 * n * sizeof(V);
  result.timing = time_on(ctx, request, [&] { axpy(ctx, alpha, x, y); });
  return result;
}

/// Timed without bringing the result to the host, so that figures of host and device mean the same.
template <class V, class Exec>
Measurement measure_dot(Context<Exec>& ctx, index_t n, const CompareRequest& request) {
  using Space = typename Exec::memory_space;
  const Vector<V> host_x = random_vector<V>(n, 3), host_y = random_vector<V>(n, 4);
  double expected = 0;
  double scale = 0;
  for (std::size_t i = 0; i < host_x.extent(0); ++i) {
    const double term = static_cast<double>(host_x(i)) * static_cast<double>(host_y(i));
    expected += term;
    scale += std::abs(term);
  }
  const Vector<V, Space> x = copy_to<Space>(host_x), y = copy_to<Space>(host_y);
  Measurement result;
  result.error = std::abs(dot(ctx, x, y) - expected) / std::max(scale, 1e-300);
  result.cost = cost::vectors(n, 2, 2, sizeof(V));
  result.working_set = result.cost.bytes;
  result.timing = time_on(ctx, request, [&] {
    ctx.template vectors<V>().dot(ctx.queue(), n, x.data(), y.data(), ctx.result_slot());
  });
  return result;
}

template <class V>
void measure_vectors(index_t n, Precision precision, const CompareRequest& request,
                     const Tell& tell, Comparison& result) {
  for_each_memory([&]<class Exec>(std::type_identity<Exec>) {
    for_each_context<Exec>(request, [&](Context<Exec>& ctx) {
      tell(std::string("axpy and dot ") + ctx.backend().name);
      const VectorOps<V>& ops = ctx.template vectors<V>();
      VectorRow axpy_row{row_of(ctx, precision), "axpy", {}};
      VectorRow dot_row{row_of(ctx, precision), "dot", {}};
      if (ops.axpy != nullptr) axpy_row.measurement = measure_axpy<V>(ctx, n, request);
      if (ops.dot != nullptr) dot_row.measurement = measure_dot<V>(ctx, n, request);
      result.vector_rows.push_back(std::move(axpy_row));
      result.vector_rows.push_back(std::move(dot_row));
    });
  });
}

/// Each memory in which something is to be measured, by the backend that `auto` takes there: at the
/// size of the matrix and beyond the caches.
void measure_machine(const CsrMatrix<double>& A, const CompareRequest& request,
                     Comparison& result) {
  const double bytes = A.spmv_cost(sizeof(double)).bytes;
  // Every percentage rests on these, so they get more time than a single figure does.
  const double seconds = std::max(2 * request.effort.min_seconds, 0.01);
  for_each_memory([&]<class Exec>(std::type_identity<Exec>) {
    constexpr MemorySpace memory = memory_of<typename Exec::memory_space>;
    if (chosen_backends(request, memory).empty()) return;
    Context<Exec> ctx("auto", request.threads);
    result.threads = ctx.threads();
    const std::size_t beyond_caches = out_of_cache_bytes(memory);
    MemorySpeed speed{memory, {}, measure_bandwidth(ctx, beyond_caches, seconds)};
    const auto size = static_cast<std::size_t>(std::max(bytes, 1e4));
    speed.at_size = size >= beyond_caches ? speed.memory : measure_bandwidth(ctx, size, seconds);
    result.speeds.push_back(speed);
  });
}

/// Sets every figure of one memory against a read stream over as many bytes as it touches. Sizes that
/// differ by less than a tenth share a stream.
template <class Exec>
void measure_streams(const CompareRequest& request, Comparison& result) {
  constexpr MemorySpace memory = memory_of<typename Exec::memory_space>;
  if (chosen_backends(request, memory).empty()) return;
  std::vector<Measurement*> figures;
  const auto take = [&](const Row& row, Measurement& figure) {
    if (row.backend->memory == memory && figure.timing.measured()) figures.push_back(&figure);
  };
  for (MatrixRow& row : result.matrix_rows) {
    take(row, row.spmv);
    take(row, row.pcg);
  }
  for (VectorRow& row : result.vector_rows) take(row, row.measurement);
  std::sort(figures.begin(), figures.end(), [](const Measurement* a, const Measurement* b) {
    return a->working_set < b->working_set;
  });
  Context<Exec> ctx("auto", request.threads);
  const double seconds = std::max(request.effort.min_seconds, 0.005);
  const double most = static_cast<double>(out_of_cache_bytes(memory));
  double size = 0, rate = 0;
  for (Measurement* figure : figures) {
    const double bytes = std::clamp(figure->working_set, 1e3, most);
    if (bytes > 1.1 * size) {
      size = bytes;
      rate = measure_read_bandwidth(ctx, static_cast<std::size_t>(size), seconds);
    }
    figure->read_rate = rate;
  }
}

}  // namespace

std::vector<const Backend*> chosen_backends(const CompareRequest& request, MemorySpace memory) {
  std::vector<const Backend*> chosen;
  if (!admits(request.memory, memory)) return chosen;
  const auto& names = request.backends;
  for (const Backend* backend : backends()) {
    const bool named = std::find(names.begin(), names.end(), backend->name) != names.end();
    if (backend->memory != memory || (!names.empty() && !named)) continue;
    if (!named && backend->variant && !request.variants) continue;
    if (availability_of(*backend).usable) chosen.push_back(backend);
  }
  return chosen;
}

Comparison measure_all(const CsrMatrix<double>& A, const CompareRequest& asked, const Tell& tell) {
  Comparison result;
  CompareRequest request = asked;
  if (chosen_backends(request, MemorySpace::host).empty() &&
      chosen_backends(request, MemorySpace::device).empty())
    throw UnsupportedOperation("compare: no backend that is asked for is usable in this memory");
  tell("the pattern");
  result.structure = analyze(A);
  if (request.formats.empty()) request.formats = promising_formats(result.structure);
  tell("the memory");
  measure_machine(A, request, result);
  const Vector<double> expected = reference_product(A, request);
  for (const Precision precision : precisions)
    measure_precision(A, precision, expected, request, tell, result);
  measure_vectors<double>(A.rows, Precision::f64, request, tell, result);
  measure_vectors<float>(A.rows, Precision::f32, request, tell, result);
  tell("the memory");
  for_each_memory(
      [&]<class Exec>(std::type_identity<Exec>) { measure_streams<Exec>(request, result); });
  if (A.rows != A.cols)
    result.notes.emplace_back("PCG left out: it needs a square matrix");
  else if (std::none_of(result.matrix_rows.begin(), result.matrix_rows.end(),
                        [](const MatrixRow& row) { return row.pcg.timing.measured(); }))
    result.notes.emplace_back(
        "PCG left out: it breaks down or converges within a few iterations here");
  return result;
}

}  // namespace cnc::cli
