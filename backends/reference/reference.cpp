#include <reference/reference.hpp>

#include <reference/bcsr_spmv.hpp>
#include <reference/bicg.hpp>
#include <reference/bicgstab.hpp>
#include <reference/bicgstab2.hpp>
#include <reference/blas1.hpp>
#include <reference/bsell_spmv.hpp>
#include <reference/cg.hpp>
#include <reference/cg_pipelined.hpp>
#include <reference/cg_single_reduction.hpp>
#include <reference/cg_smoothed.hpp>
#include <reference/cgnr.hpp>
#include <reference/chebyshev.hpp>
#include <reference/dia_spmv.hpp>
#include <reference/lsqr.hpp>
#include <reference/minres.hpp>
#include <reference/precondition.hpp>
#include <reference/relax.hpp>
#include <reference/richardson.hpp>
#include <reference/spmv_dot.hpp>

namespace cnc {
namespace {

// No passes: whole runs are what the passes of others are compared with.
template <class V>
constexpr VectorOps<V> vector_table() {
  return {
      .axpy = reference::axpy<V>,
      .axpby = reference::axpby<V>,
      .scal = reference::scal<V>,
      .multiply = reference::multiply<V>,
      .dot = reference::dot<V>,
      .nrm2 = reference::nrm2<V>,
      .mdot = reference::mdot<V>,
      .maxpy = reference::maxpy<V>,
      .normalize = reference::normalize<V>,
      .precondition = reference::precondition<V>,
  };
}

// Only spmv is written per format; the overload for Operand is found by its argument type.
template <class Operand, class V>
constexpr MatrixOps<Operand, V> format_table() {
  MatrixOps<Operand, V> table = {
      .spmv = reference::spmv<typename Operand::value_type, V>,
      .relax = reference::relax<Operand, V>,
      .spmv_dot = reference::spmv_dot<Operand, V>,
  };
  const auto run = [&](Method method) -> auto& { return table.run[static_cast<int>(method)]; };
  run(Method::pcg) = reference::conjugate_gradients<methods::Cg<V>, Operand, V>;
  run(Method::pcg_flexible) = reference::conjugate_gradients<methods::CgFlexible<V>, Operand, V>;
  run(Method::pcg_single_reduction) = reference::cg_single_reduction<Operand, V>;
  run(Method::bicgstab) = reference::bicgstab<Operand, V>;
  run(Method::pcg_pipelined) = reference::cg_pipelined<Operand, V>;
  run(Method::minres) = reference::minres<Operand, V>;
  run(Method::bicg) = reference::bicg<Operand, V>;
  run(Method::cgnr) = reference::cgnr<Operand, V>;
  run(Method::richardson) = reference::richardson<Operand, V>;
  run(Method::chebyshev) = reference::chebyshev<Operand, V>;
  run(Method::lsqr) = reference::lsqr<Operand, V>;
  run(Method::pcg_smoothed) = reference::cg_smoothed<Operand, V>;
  run(Method::bicgstab2) = reference::bicgstab2<Operand, V>;
  return table;
}

Availability availability() { return {true, "serial"}; }

}  // namespace

constexpr Backend reference_backend = {
    .name = "reference",
    .description = "serial textbook loops, sums in double: the oracle",
    .memory = MemorySpace::host,
    .availability = availability,
    .vectors = for_vector_types([]<class V>() { return vector_table<V>(); }),
    .matrices = for_precisions([]<class M, class V>() {
      return MatrixTable<M, V>::each([]<class Operand>() { return format_table<Operand, V>(); });
    }),
};

}  // namespace cnc
