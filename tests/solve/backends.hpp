#pragma once

#include "conformance/per_backend.hpp"
#include "support/memory.hpp"

#include <cnc/formats.hpp>
#include <cnc/solver.hpp>

#include <solve/system.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace cnc::testing {

/// Names of the backends that can solve in host memory here. Baselines offer part of the table.
inline std::vector<std::string> host_backends(bool with_baselines = false) {
  std::vector<std::string> names;
  for (const Backend* backend : backends())
    if (backend->memory == MemorySpace::host && backend->availability().usable &&
        (with_baselines || !backend->baseline))
      names.push_back(backend->name);
  return names;
}

/// A SharingContext of the host, by its backend's name.
struct ThreadedContext : SharingContext<HostExec> {
  ThreadedContext(const std::string& backend, int threads)
      : SharingContext(find_backend(backend, MemorySpace::host), threads) {}
};

/// Every format of the library, block formats at each size given that they take, and "auto".
inline std::vector<FormatSpec> every_format(const std::vector<int>& block_sizes) {
  std::vector<FormatSpec> specs{FormatSpec{}};
  for (const auto& format : formats<double>()) {
    if (format.smallest_block_size <= 1) specs.push_back({format.name, 1});
    if (!format.has_blocks) continue;
    for (const int size : block_sizes)
      if (size >= format.smallest_block_size && size > 1) specs.push_back({format.name, size});
  }
  return specs;
}

/// The same, less what cannot hold the matrix.
template <class V>
std::vector<FormatSpec> formats_for(const CsrMatrix<V>& A, const std::vector<int>& block_sizes) {
  const Structure structure = analyze(A);
  std::vector<FormatSpec> specs;
  for (const FormatSpec& spec : every_format(block_sizes)) {
    bool fits = spec.name == "auto";
    for (const auto& format : formats<V>())
      if (format.name == spec.name) fits = format.predicted_bytes(structure, spec, sizeof(V)) >= 0;
    if (fits) specs.push_back(spec);
  }
  return specs;
}

/// The first so many methods, less the stationary ones, which diverge on most matrices, and those of least squares, whose
/// residual is another one (least_squares_test.cpp).
inline std::vector<Method> krylov_methods(int count) {
  std::vector<Method> all;
  for (int k = 0; k < count; ++k)
    if (const MethodFacts& facts = method_facts(Method(k));
        !facts.stationary && !facts.least_squares)
      all.push_back(Method(k));
  return all;
}
/// The Krylov methods that are made of phases.
inline const std::vector<Method> every_method = krylov_methods(method_count);

/// The same and those that are not made of phases.
inline const std::vector<Method> all_methods = krylov_methods(all_method_count);

/// Those whose breakdowns say something of the matrix, and which reach what rounding allows.
inline constexpr Method cg_methods[] = {Method::pcg, Method::pcg_single_reduction};

/// Whether a backend has the passes of a method.
inline bool has_passes(const Backend& backend, Method method) {
  return vector_ops<double>(backend)
             .methods[static_cast<int>(method)]
             .iteration[method_facts(method).iteration_phases - 1] != nullptr;
}

/// Whether a backend executes a method with an operator or preconditioner that is not its own and has no transpose: phase
/// by phase, or in plain operations. The oracle has whole runs alone.
inline bool takes_parts_of_others(const Backend& backend, Method method) {
  return !method_facts(method).transposes &&
         (detail::has_plain_form(method) || has_passes(backend, method));
}

inline constexpr SolveForm every_form[] = {
    SolveForm::automatic, SolveForm::plain_operations, SolveForm::fused_steps, SolveForm::streamed,
    SolveForm::graph,     SolveForm::resident,         SolveForm::one_meeting};

inline const char* to_string(Method method) { return method_name(method); }

/// The options that every combination of these tests starts from.
inline SolveOptions options_for(Method method, const FormatSpec& format, PreconditionerKind kind,
                                int preconditioner_block_size = 0) {
  SolveOptions options;
  options.method = method;
  options.format = format;
  options.preconditioner = kind;
  options.preconditioner_block_size = preconditioner_block_size;
  options.storage = StoragePrecision::as_vectors;  // that of generated problems would be float
  return options;
}

/// Storage that has the matrix in M under vectors of V.
template <class M, class V>
constexpr StoragePrecision storage_for() {
  return std::is_same_v<M, V> ? StoragePrecision::as_vectors : StoragePrecision::f32;
}

}  // namespace cnc::testing
