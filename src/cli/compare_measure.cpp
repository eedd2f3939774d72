#include "compare_measure.hpp"

#include "compare_matrix.hpp"
#include "text.hpp"

#include <cnc/blas1.hpp>

#include <algorithm>

namespace cnc::cli {
namespace {

using Tell = std::function<void(const std::string&)>;

std::vector<std::string> chosen_backends(const CompareRequest& request) {
  if (!request.backends.empty()) {
    for (const std::string& name : request.backends) (void)find_backend(name);
    return request.backends;
  }
  std::vector<std::string> names;
  for (const Backend* backend : backends())
    if (backend->memory == MemorySpace::host && (!backend->variant || request.variants) &&
        backend->availability().usable)
      names.emplace_back(backend->name);
  return names;
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

/// All backends on one format. PCG takes the matrix in the precision of its vectors and narrows it.
template <class M, class V>
void measure_format(const CsrMatrix<M>& A, const CsrMatrix<V>& for_pcg, const FormatSpec& format,
                    Precision precision, const Vector<double>& expected,
                    const CompareRequest& request, const Tell& tell, Comparison& result) {
  const Matrix<M> built = build_format(A, format);
  const auto storage = sizeof(M) < sizeof(V) ? StoragePrecision::f32 : StoragePrecision::as_vectors;
  for (const std::string& name : chosen_backends(request)) {
    tell(std::string(to_string(precision)) + " " + format.text() + " " + name);
    Context<> ctx(name, request.threads);
    MatrixRow row{precision, format.text(), name, {}, {}};
    row.spmv = measure_spmv<V>(ctx, built, expected, request);
    if (A.rows == A.cols && row.spmv.timing.measured())
      row.pcg = measure_pcg(ctx, for_pcg, format, storage, row.spmv.cost, request);
    result.matrix_rows.push_back(std::move(row));
  }
}

/// All formats in one precision. A matrix that float cannot hold is left out with a note.
void measure_precision(const CsrMatrix<double>& A, Precision precision,
                       const Vector<double>& expected, const CompareRequest& request,
                       const Tell& tell, Comparison& result) {
  const auto for_each_format = [&](const auto& stored, const auto& for_pcg) {
    for (const FormatSpec& format : request.formats)
      measure_format(stored, for_pcg, format, precision, expected, request, tell, result);
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

template <class V>
Measurement measure_axpy(Context<>& ctx, index_t n, const CompareRequest& request) {
  const Vector<V> x = random_vector<V>(n, 3);
  const Vector<V> y = random_vector<V>(n, 4);
  const V alpha = V(0.0078125);  // a power of two: exact in both precisions
  Vector<double> expected("expected", y.extent(0));
  for (std::size_t i = 0; i < y.extent(0); ++i)
    expected(i) =
        static_cast<double>(alpha) * static_cast<double>(x(i)) + static_cast<double>(y(i));
  Measurement result;
  axpy(ctx, alpha, x, y);
  ctx.fence();
  result.error = relative_error(y, expected);
  result.cost = cost::vectors(n, 3, 2, sizeof(V));
  result.timing = time_repeated(request.repeats, request.min_seconds, [&] {
    axpy(ctx, alpha, x, y);
    ctx.fence();
  });
  return result;
}

template <class V>
Measurement measure_dot(Context<>& ctx, index_t n, const CompareRequest& request) {
  const Vector<V> x = random_vector<V>(n, 3);
  const Vector<V> y = random_vector<V>(n, 4);
  double expected = 0;
  double scale = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    expected += static_cast<double>(x(i)) * static_cast<double>(y(i));
    scale += std::abs(static_cast<double>(x(i)) * static_cast<double>(y(i)));
  }
  Measurement result;
  result.error = std::abs(dot(ctx, x, y) - expected) / std::max(scale, 1e-300);
  result.cost = cost::vectors(n, 2, 2, sizeof(V));
  result.timing =
      time_repeated(request.repeats, request.min_seconds, [&] { (void)dot(ctx, x, y); });
  return result;
}

template <class V>
void measure_vectors(index_t n, Precision precision, const CompareRequest& request,
                     const Tell& tell, Comparison& result) {
  for (const std::string& name : chosen_backends(request)) {
    tell("axpy and dot " + name);
    Context<> ctx(name, request.threads);
    const VectorOps<V>& ops = ctx.vectors<V>();
    VectorRow axpy_row{"axpy", precision, name, {}};
    VectorRow dot_row{"dot", precision, name, {}};
    if (ops.axpy != nullptr) axpy_row.measurement = measure_axpy<V>(ctx, n, request);
    if (ops.dot != nullptr) dot_row.measurement = measure_dot<V>(ctx, n, request);
    result.vector_rows.push_back(std::move(axpy_row));
    result.vector_rows.push_back(std::move(dot_row));
  }
}

void measure_machine(const CsrMatrix<double>& A, const CompareRequest& request,
                     Comparison& result) {
  Context<> ctx("auto", request.threads);
  result.threads = ctx.threads();
  const double bytes = A.spmv_cost(sizeof(double)).bytes;
  const std::size_t beyond_caches = out_of_cache_bytes();
  // Every percentage rests on these, so they get more time than a single figure does.
  const double seconds = std::max(2 * request.min_seconds, 0.01);
  result.memory = measure_bandwidth(ctx, beyond_caches, seconds);
  result.at_size =
      bytes >= static_cast<double>(beyond_caches)
          ? result.memory
          : measure_bandwidth(ctx, static_cast<std::size_t>(std::max(bytes, 1e4)), seconds);
}

}  // namespace

Comparison measure_all(const CsrMatrix<double>& A, const CompareRequest& asked, const Tell& tell) {
  Comparison result;
  CompareRequest request = asked;
  (void)chosen_backends(request);  // an unknown name ends here, before anything is measured
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
  if (A.rows != A.cols)
    result.notes.emplace_back("PCG left out: it needs a square matrix");
  else if (std::none_of(result.matrix_rows.begin(), result.matrix_rows.end(),
                        [](const MatrixRow& row) { return row.pcg.timing.measured(); }))
    result.notes.emplace_back(
        "PCG left out: it breaks down or converges within a few iterations here");
  return result;
}

}  // namespace cnc::cli
