#include <cnc/solver.hpp>

#include "solve/choose_method.hpp"
#include "solve/preconditioners.hpp"

#include <cstdint>

namespace cnc {

template <class V>
double least_prepare_bytes(index_t rows, offset_t nonzeros, const SolveOptions& options) {
  const bool narrow = options.storage == StoragePrecision::f32;
  const bool sorted = options.reordering != Reordering::none;
  const std::string& format = options.format.name;
  const double stored = narrow ? sizeof(float) : sizeof(V);

  // Those of the method but x, the best iterate, and b and x in another order.
  const MethodFacts method = detail::workspace_facts(options.method);
  const int vectors = method.vectors + (method.scratch < 0 ? 2 : 0) + (sorted ? 2 : 0) +
                      (method.least_squares ? 3 : 0);  // A^T r, and b and x made longer

  // Steps of a cycle and one more, or as many again if flexible; w, the base and M^-1 of a vector.
  const int basis = is_phased(options.method)         ? 0
                    : options.method == Method::gmres ? options.restart + 4
                                                      : 2 * options.restart + 3;

  double per_entry = 0;
  if (narrow) per_entry += stored;  // beside the matrix in double
  if (!narrow && format != "csr" && format != "auto")
    per_entry += format == "dia-symmetric" ? stored / 2 : stored;
  // The transpose: the same again, and in CSR, and where its entries come from.
  if (method.transposes && format != "dia-symmetric")
    per_entry = 2 * per_entry + sizeof(V) + 2 * sizeof(index_t);
  // The matrix in another order and where its entries come from; the host orders with as much again.
  if (sorted) per_entry += sizeof(V) + 2 * sizeof(index_t);

  // Of parts: where values are, and local columns of 16 bits.
  if (options.form == SolveForm::one_meeting) per_entry += sizeof(index_t) + sizeof(std::uint16_t);

  // The true residual of float vectors is computed in double.
  const double wide = sizeof(V) == sizeof(float) ? 2 * sizeof(double) : 0;
  return static_cast<double>(rows) * ((vectors + basis) * sizeof(V) + wide) +
         detail::local_bytes<V>(options.preconditioner, options.preconditioner_block_size, rows) +
         static_cast<double>(nonzeros) * per_entry;
}

template double least_prepare_bytes<float>(index_t, offset_t, const SolveOptions&);
template double least_prepare_bytes<double>(index_t, offset_t, const SolveOptions&);

}  // namespace cnc
