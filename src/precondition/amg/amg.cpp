#include <cnc/amg.hpp>

#include "convert/spaces.hpp"
#include "precondition/amg/build_cycle.hpp"
#include "precondition/amg/hierarchy.hpp"
#include "precondition/amg/kept_memory.hpp"
#include "solve/prepare.hpp"

#include <cmath>
#include <variant>

namespace cnc {

const char* to_string(AmgSmoother smoother) {
  switch (smoother) {
    case AmgSmoother::jacobi: return "jacobi";
    case AmgSmoother::l1_jacobi: return "l1-jacobi";
    case AmgSmoother::gauss_seidel: return "gauss-seidel";
    case AmgSmoother::ilu0: return "ilu0";
    case AmgSmoother::chebyshev: break;
  }
  return "chebyshev";
}

double AmgHierarchy::operator_complexity() const {
  double sum = 0;
  for (const AmgLevel& level : levels) sum += static_cast<double>(level.nonzeros);
  return levels.empty() ? 0 : sum / static_cast<double>(std::max<offset_t>(levels[0].nonzeros, 1));
}
double AmgHierarchy::grid_complexity() const {
  double sum = 0;
  for (const AmgLevel& level : levels) sum += static_cast<double>(level.rows);
  return levels.empty() ? 0 : sum / static_cast<double>(std::max<offset_t>(levels[0].rows, 1));
}

template <class V, class Exec>
struct Amg<V, Exec>::State {
  AmgOptions options;
  std::vector<Vector<const V, Space>> near_null;
  detail::KeptMemory<Space> memory;
  detail::Hierarchy<V, Exec> hierarchy;
  std::variant<detail::Cycle<float, Exec>, detail::Cycle<double, Exec>> cycle;
  AmgHierarchy facts;

  /// What is built, not its memory.
  void drop() {
    facts = {};
    hierarchy = {};
    cycle = {};
  }

  /// Whether float holds what is there, whose largest magnitude is given.
  bool fits_float(const CsrMatrix<V, Space>& A, const detail::Magnitudes& magnitudes) const {
    return std::is_same_v<V, float> ||
           (options.in_float && detail::range_is_float(magnitudes, A.rows));
  }

  template <class M>
  PreconditionerSetup build(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                            const Matrix<V, Space>& layout) {
    cycle.template emplace<detail::Cycle<M, Exec>>();
    auto& made = std::get<detail::Cycle<M, Exec>>(cycle);
    made.degree = options.smoother_degree;
    facts.smoother = options.smoother;
    facts.smoother_degree = options.smoother_degree;
    made.kind = options.cycle;
    return detail::build_hierarchy<M>(ctx, options, near_null, A, layout, hierarchy, made, facts);
  }
};

template <class V, class Exec>
Amg<V, Exec>::Amg(const AmgOptions& options) : state_(std::make_unique<State>()) {
  require(options.strength >= 0 && options.strength < 1, "Amg: strength must be 0 to less than 1");
  require(options.block_size >= 0 && options.block_size <= max_block_size,
          "Amg: block size must be 0 to 16");
  require(options.smoother_degree >= 1 && options.smoother_degree <= 16,
          "Amg: the degree of the smoother must be 1 to 16");
  require(options.coarsest_rows >= 1 && options.coarsest_rows <= 4000,
          "Amg: rows of the coarsest level must be 1 to 4000");
  require(options.max_levels >= 1, "Amg: there must be a level at least");
  state_->options = options;
}
template <class V, class Exec>
Amg<V, Exec>::~Amg() = default;

template <class V, class Exec>
void Amg<V, Exec>::set_near_null_space(std::vector<Vector<const V, Space>> vectors) {
  require(vectors.size() <= max_block_size, "Amg: 16 near-null vectors at most");
  for (auto& vector : vectors) vector = detail::cloned(vector);
  state_->near_null = std::move(vectors);
}

template <class V, class Exec>
void Amg<V, Exec>::clear() {
  state_->drop();
  state_->memory.release();
}

template <class V, class Exec>
std::string Amg<V, Exec>::name() const {
  return "amg";
}

template <class V, class Exec>
double Amg<V, Exec>::bytes(index_t rows, offset_t nonzeros) const {
  // Of all levels: the matrix in the cycle, prolongations both ways and the products that update_values goes through, and blocks of the matrix.
  constexpr double entries_of_row = 13,
                   entries_of_vector = 9;  // measured; the second of several vectors
  const AmgOptions& options = state_->options;
  const double n = rows, entries = double(nonzeros);
  const double vectors = std::max<double>(options.block_size, double(state_->near_null.size()));
  const double of_row = vectors > 1 ? entries_of_vector * vectors : entries_of_row;
  const double cycle = entries * (sizeof(float) + sizeof(index_t)) + 5 * n * sizeof(float);
  const double products = 3 * n * of_row * (sizeof(V) + (vectors > 1 ? 1 : sizeof(index_t)));
  const double blocks = vectors > 1 ? entries * sizeof(V) : 0;
  const bool sweeps =
      options.smoother == AmgSmoother::gauss_seidel || options.smoother == AmgSmoother::ilu0;
  return cycle + products + blocks + (sweeps ? 2 * cycle : 0);
}

template <class V, class Exec>
PreconditionerSetup Amg<V, Exec>::set_up(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                                         const Matrix<V, Space>& layout) {
  State& s = *state_;
  const Exec& exec = ctx.execution_space_instance();
  const InstanceScope instance(exec);
  const detail::PoolScope scope(s.memory.pool());
  s.drop();
  s.memory.keep_for(ctx, A.rows, static_cast<offset_t>(A.columns.extent(0)));
  const detail::Magnitudes magnitudes = detail::magnitudes_of(exec, A, layout);
  if (!std::isfinite(magnitudes.largest.value)) return detail::row_without_number(exec, A);
  s.facts.in_float = s.fits_float(A, magnitudes);
  try {
    const PreconditionerSetup outcome = s.facts.in_float ? s.template build<float>(ctx, A, layout)
                                                         : s.template build<double>(ctx, A, layout);
    s.memory.yield();
    return outcome;
  } catch (...) {
    clear();
    throw;
  }
}

template <class V, class Exec>
PreconditionerSetup Amg<V, Exec>::update_values(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                                                const Matrix<V, Space>& layout) {
  State& s = *state_;
  const Exec& exec = ctx.execution_space_instance();
  const InstanceScope instance(exec);
  const detail::PoolScope scope(s.memory.pool());
  const detail::Magnitudes magnitudes = detail::magnitudes_of(exec, A, layout);
  if (!std::isfinite(magnitudes.largest.value)) return detail::row_without_number(exec, A);
  if (s.facts.levels.empty() || s.facts.in_float != s.fits_float(A, magnitudes))
    return set_up(ctx, A, layout);
  return std::visit(
      [&](auto& cycle) {
        return detail::update_hierarchy(ctx, A, layout, s.hierarchy, cycle, s.facts);
      },
      s.cycle);
}

template <class V, class Exec>
void Amg<V, Exec>::apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
                         const Vector<V, Space>& z) const {
  std::visit(
      [&](const auto& cycle) {
        require(
            !cycle.levels.empty() && cycle.levels[0].rows == detail::checked_extent(r.extent(0)),
            "Amg: apply without a set_up for a matrix of so many rows");
        require(ctx.queue().partials != nullptr || r.extent(0) == 0,
                "Amg: apply with a context that has not reserved for the rows");
        cycle.apply(ctx, r.data(), z.data());
      },
      state_->cycle);
}

template <class V, class Exec>
bool Amg<V, Exec>::only_enqueues() const {
  // Factors are solved in hundreds of launches: too many for a graph of a whole cycle.
  return !detail::is_host_space<Space> && state_->options.smoother != AmgSmoother::ilu0;
}

template <class V, class Exec>
bool Amg<V, Exec>::varies() const {
  return state_->options.cycle == AmgCycle::k;
}

template <class V, class Exec>
const AmgHierarchy& Amg<V, Exec>::hierarchy() const {
  return state_->facts;
}

template class Amg<float>;
template class Amg<double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template class Amg<float, Kokkos::DefaultExecutionSpace>;
template class Amg<double, Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace cnc
