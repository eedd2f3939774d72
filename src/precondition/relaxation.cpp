#include <cnc/relaxation.hpp>

#include "convert/sorted_rows.hpp"
#include "convert/spaces.hpp"
#include "on_each.hpp"
#include "precondition/colours.hpp"
#include "precondition/ordered_rows.hpp"
#include "precondition/set_up_preconditioner.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

namespace cnc {
namespace detail::relaxation {

/// One triangle of A, its rows in the order of a sweep and times omega / a(i, i), its columns as A has them.
template <class V, class Space>
struct Triangle {
  Vector<index_t, Space> row_offsets, columns, origins;
  Vector<V, Space> values;
  bool are_chained;
};

/// inverse(i) := omega / a(i, i), for every row; adds up faults.
template <class V>
struct InvertDiagonal {
  BlocksInCsr<V> A;
  V omega;
  V* inverse;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& fault) const {
    const auto row = static_cast<index_t>(i);
    report(invert_entry(A, DiagonalRule::as_it_is, row, inverse[row]), fault);
    inverse[row] *= omega;
  }
};

/// Row i of a triangle times scale(i).
template <class V>
struct ScaleRow {
  OrderedRows<V> triangle;
  const V* scale;
  V* values;  ///< the triangle's
  KOKKOS_INLINE_FUNCTION void operator()(offset_t place) const {
    const V factor = scale[triangle.rows[place]];
    for (index_t k = triangle.row_offsets[place]; k < triangle.row_offsets[place + 1]; ++k)
      values[k] *= factor;
  }
};

}  // namespace detail::relaxation

using namespace detail::relaxation;

template <class V, class Exec>
struct Relaxation<V, Exec>::State {
  RelaxationOptions options;
  Vector<V, Space> inverse;  ///< omega / diagonal
  Vector<index_t, Space> rows;
  std::vector<index_t> begins;
  Triangle<V, Space> lower, upper;

  bool sweeps() const { return options.kind != RelaxationKind::jacobi; }
  bool natural() const {
    return options.order == SweepOrder::natural ||
           (options.order == SweepOrder::automatic && detail::is_host_space<Space>);
  }

  PreconditionerSetup invert_diagonal(const Exec& exec, const CsrMatrix<V, Space>& A) {
    const auto n = static_cast<std::size_t>(A.rows);
    if (inverse.extent(0) != n) inverse = uninitialized<V, Space>("cnc::relaxation", n);
    const auto fault = detail::sum_over<detail::Least>(
        exec, A.rows,
        InvertDiagonal<V>{{A.operand(), A.checked == Checked::ascending},
                          static_cast<V>(options.omega),
                          inverse.data()});
    if (!fault.found()) return {};
    return {.row = static_cast<index_t>(fault.first())};
  }

  void order_rows(const CsrMatrix<V, Space>& A) {
    const auto host_offsets = copy_to<HostSpace>(A.row_offsets);
    const auto host_columns = copy_to<HostSpace>(A.columns);
    detail::OrderOfRows order;
    if (natural()) {
      order.rows.resize(static_cast<std::size_t>(A.rows));
      for (index_t i = 0; i < A.rows; ++i) order.rows[static_cast<std::size_t>(i)] = i;
    } else {
      const CsrMatrix<V> pattern(A.rows, A.cols, 1, host_offsets, host_columns,
                                 uninitialized<V>("cnc::pattern", host_columns.extent(0)));
      order = detail::coloured(pattern);
    }
    begins = order.begins;
    rows = detail::copied_there<Space>("cnc::preconditioner", order.rows);
    lower = triangle(host_offsets, host_columns, order, false,
                     [&](index_t row, index_t column) { return order.comes_before(column, row); });
    if (options.kind == RelaxationKind::ssor)
      upper = triangle(host_offsets, host_columns, order, true, [&](index_t row, index_t column) {
        return order.comes_before(row, column);
      });
  }

  template <class Belongs>
  Triangle<V, Space> triangle(const Vector<const index_t>& offsets,
                              const Vector<const index_t>& columns,
                              const detail::OrderOfRows& order, bool goes_back,
                              const Belongs& belongs) {
    std::vector<index_t> its_offsets{0}, its_columns, origins;
    for (const index_t row : order.rows) {
      const index_t first = offsets(row), last = offsets(row + 1);
      for (index_t step = 0; step < last - first; ++step) {
        const index_t k = goes_back ? last - 1 - step : first + step;
        if (!belongs(row, columns(k))) continue;
        its_columns.push_back(columns(k));
        origins.push_back(k);
      }
      its_offsets.push_back(static_cast<index_t>(origins.size()));
    }
    return {detail::copied_there<Space>("cnc::preconditioner", its_offsets),
            detail::copied_there<Space>("cnc::preconditioner", its_columns),
            detail::copied_there<Space>("cnc::preconditioner", origins),
            uninitialized<V, Space>("cnc::relaxation", origins.size()),
            detail::are_chained(order.rows, its_offsets, its_columns, goes_back)};
  }
  void take_values(const Context<Exec>& ctx, const CsrMatrix<V, Space>& A) const {
    for (const auto* part : {&lower, &upper}) {
      if (part->values.extent(0) == 0) continue;
      detail::take_entries(ctx.execution_space_instance(), A, part->origins, part->values);
      detail::on_each(ctx, static_cast<offset_t>(rows.extent(0)),
                      ScaleRow<V>{ordered(*part), inverse.data(), part->values.data()});
    }
    ctx.fence();  // what uses them next may run on another instance
  }

  detail::OrderedRows<V> ordered(const Triangle<V, Space>& part) const {
    return {rows.data(), part.row_offsets.data(), part.columns.data(), part.values.data(),
            part.are_chained};
  }
  void sweep(const Context<Exec>& ctx, const V* r, V* z) const {
    const std::size_t n = rows.extent(0);
    detail::in_order(ctx, begins, n, false,
                     detail::SolveRow<V>{ordered(lower), inverse.data(), V(1), r, z});
    if (options.kind == RelaxationKind::ssor)
      detail::in_order(
          ctx, begins, n, true,
          detail::SolveRow<V>{ordered(upper), nullptr, static_cast<V>(2 - options.omega), z, z});
  }
};

template <class V, class Exec>
Relaxation<V, Exec>::Relaxation(const RelaxationOptions& options)
    : state_(std::make_unique<State>()) {
  require(options.omega > 0 && std::isfinite(options.omega),
          "Relaxation: omega must be positive and finite");
  require(options.omega < 2 || options.kind == RelaxationKind::jacobi,
          "Relaxation: omega of a sweep must be below 2");
  require(options.order != SweepOrder::natural || detail::is_host_space<Space>,
          "Relaxation: the natural order is for the host alone");
  state_->options = options;
}
template <class V, class Exec>
Relaxation<V, Exec>::~Relaxation() = default;

template <class V, class Exec>
bool Relaxation<V, Exec>::keeps_symmetry() const {
  return state_->options.kind != RelaxationKind::sor;
}

template <class V, class Exec>
std::string Relaxation<V, Exec>::name() const {
  const RelaxationOptions& o = state_->options;
  const char* const order = o.order == SweepOrder::colours && state_->sweeps() ? "-colours" : "";
  if (o.kind == RelaxationKind::sor && o.omega == 1) return std::string("gauss-seidel") + order;
  const char* const kind = o.kind == RelaxationKind::jacobi ? "jacobi"
                           : o.kind == RelaxationKind::sor  ? "sor"
                                                            : "ssor";
  char text[48];
  std::snprintf(text, sizeof text, "%s%s:%.6g", kind, order, o.omega);
  return text;
}

template <class V, class Exec>
double Relaxation<V, Exec>::bytes(index_t rows, offset_t nonzeros) const {
  const double diagonal = double(rows) * sizeof(V);
  if (!state_->sweeps()) return diagonal;
  const double triangles = state_->options.kind == RelaxationKind::ssor ? 1 : 0.5;
  return diagonal + double(rows) * 3 * sizeof(index_t) +
         triangles * double(nonzeros) * (sizeof(V) + 2 * sizeof(index_t));
}

template <class V, class Exec>
PreconditionerSetup Relaxation<V, Exec>::set_up(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                                                const Matrix<V, Space>& layout) {
  if (state_->sweeps()) state_->order_rows(A);
  return update_values(ctx, A, layout);
}

template <class V, class Exec>
PreconditionerSetup Relaxation<V, Exec>::update_values(Context<Exec>& ctx,
                                                       const CsrMatrix<V, Space>& A,
                                                       const Matrix<V, Space>&) {
  const PreconditionerSetup outcome = state_->invert_diagonal(ctx.execution_space_instance(), A);
  if (outcome.ok()) state_->take_values(ctx, A);
  return outcome;
}

template <class V, class Exec>
void Relaxation<V, Exec>::apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
                                const Vector<V, Space>& z) const {
  const std::size_t rows = state_->sweeps() ? state_->rows.extent(0) : state_->inverse.extent(0);
  require(rows == r.extent(0), "Relaxation: apply without a set_up for a matrix of so many rows");
  if (!state_->sweeps()) return apply_local(ctx, *local(), r, z);
  state_->sweep(ctx, r.data(), z.data());
}

template <class V, class Exec>
std::optional<PreconditionerOperand<V>> Relaxation<V, Exec>::local() const {
  if (state_->sweeps()) return {};
  return PreconditionerOperand<V>{PreconditionerKind::jacobi, 1, state_->inverse.data()};
}

template <class V, class Exec>
int Relaxation<V, Exec>::colours() const {
  return state_->begins.empty() ? 0 : static_cast<int>(state_->begins.size()) - 1;
}

template class Relaxation<float>;
template class Relaxation<double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template class Relaxation<float, Kokkos::DefaultExecutionSpace>;
template class Relaxation<double, Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace cnc
