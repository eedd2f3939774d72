#include "geometry/spectral.hpp"

#include "geometry/conformal_rows.hpp"
#include "geometry/point_math.hpp"
#include "model/timing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cnc::geometry {
namespace {

constexpr int most_solves = 30;
constexpr double enough = 1e-3;                     // relative change of lambda that ends it
constexpr double conformal = 1e-13;                 // a lambda that is rounding
constexpr double shift = 0.01, least_shift = 1e-7;  // sigma over the first lambda, and at least

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

using Values = std::vector<double>;

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
void add(Values& a, double factor, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}
void multiply(Values& a, double factor) {
  for (double& value : a) value *= factor;
}

/// The boundary of a part: how much of it is at each vertex, 1 in all.
struct Boundary {
  std::vector<std::size_t> vertices;  // of the part, ascending
  Values weights;

  Boundary(const Mesh& mesh, const Component& part) {
    Values length(part.vertices.size(), 0);
    double all = 0;
    for (const std::vector<index_t>& loop : part.loops)
      for (std::size_t k = 0; k < loop.size(); ++k) {
        const index_t a = loop[k], b = loop[(k + 1) % loop.size()];
        // None has no weight at all.
        const double edge = std::max(distance(mesh.points[at(a)], mesh.points[at(b)]), 1e-9);
        all += edge;
        for (const index_t v : {a, b}) length[local_vertex(part, v)] += 0.5 * edge;
      }
    for (std::size_t v = 0; v < length.size(); ++v)
      if (length[v] > 0) {
        vertices.push_back(v);
        weights.push_back(length[v] / all);
      }
  }

  /// a . B b
  double product(const Values& a, const Values& b) const {
    double sum = 0;
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      const std::size_t u = 2 * vertices[k];
      sum += weights[k] * (a[u] * b[u] + a[u + 1] * b[u + 1]);
    }
    return sum;
  }
  void centre(Values& a) const {
    double middle[2] = {0, 0};
    for (std::size_t k = 0; k < vertices.size(); ++k)
      for (std::size_t axis = 0; axis < 2; ++axis)
        middle[axis] += weights[k] * a[2 * vertices[k] + axis];
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= middle[i % 2];
  }
};

/// A vector and what the rows of triangles make of it, whose square is its energy.
struct Direction {
  Values x, rows;
  void add(double factor, const Direction& other) {
    geometry::add(x, factor, other.x);
    geometry::add(rows, factor, other.rows);
  }
  void scale(double factor) {
    multiply(x, factor);
    multiply(rows, factor);
  }
};

/// The combination of up to three directions that are orthonormal in B with the least energy: the eigenvector of their
/// energies, by Jacobi's rotations.
std::array<double, 3> least_combination(const std::vector<Direction>& basis) {
  const std::size_t n = basis.size();
  double G[3][3] = {}, V[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) G[i][j] = dot(basis[i].rows, basis[j].rows);
  for (int sweep = 0; sweep < 30; ++sweep)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        if (G[i][j] == 0) continue;
        const double theta = (G[j][j] - G[i][i]) / (2 * G[i][j]);
        const double t = std::copysign(1 / (std::abs(theta) + std::hypot(theta, 1)), theta);
        const double c = 1 / std::hypot(t, 1), s = t * c;
        const auto turn = [c, s](double& a, double& b) {
          const double before = a;
          a = c * before - s * b;
          b = s * before + c * b;
        };
        for (std::size_t k = 0; k < n; ++k) turn(G[k][i], G[k][j]);
        for (std::size_t k = 0; k < n; ++k) turn(G[i][k], G[j][k]);
        for (std::size_t k = 0; k < n; ++k) turn(V[k][i], V[k][j]);
      }
  std::size_t least = 0;
  for (std::size_t i = 1; i < n; ++i)
    if (G[i][i] < G[least][least]) least = i;
  return {V[0][least], V[1][least], V[2][least]};
}

class SpectralMap {
 public:
  SpectralMap(const Mesh& mesh, const Component& part, const std::vector<index_t>& skipped,
              const std::vector<Uv>& start)
      : mesh_(mesh),
        part_(part),
        boundary_(mesh, part),
        builder_(static_cast<index_t>(2 * part.vertices.size()), {.rows = RowKind::equations}) {
    for (const index_t t : part.triangles)
      if (!std::binary_search(skipped.begin(), skipped.end(), t)) triangles_.push_back(t);
    begin_with(start);
  }

  void solve(SystemSolver& solver, WorkTimes& times, SpectralOutcome& outcome) {
    double clock = detail::now();
    const auto lap = [&clock](double& seconds) {
      const double before = clock;
      seconds += (clock = detail::now()) - before;
    };
    assemble();
    current_.rows = rows_of(current_.x);
    lambda_ = dot(current_.rows, current_.rows);
    outcome.equations = builder_.matrix().rows;
    outcome.unknowns = builder_.matrix().cols;
    outcome.report.status = SolveStatus::converged;
    if (lambda_ > conformal) {
      sigma_ = std::max(shift * lambda_, least_shift);
      assemble();
      lap(times.assembly);
      solver.prepare(builder_.matrix(), SystemKind::least_squares);
      lap(times.set_up);
      iterate(solver, outcome);
      lap(times.solving);
    }
    outcome.eigenvalue = lambda_;
  }

  void store(std::vector<Uv>& uv) const {
    for (std::size_t v = 0; v < uv.size(); ++v) uv[v] = {current_.x[2 * v], current_.x[2 * v + 1]};
  }

 private:
  void begin_with(const std::vector<Uv>& start) {
    Values& x = current_.x;
    for (const Uv& p : start) x.insert(x.end(), p.begin(), p.end());
    if (normalize(x)) return;
    // Seen from there the boundary is a point: it begins as a circle.
    const std::vector<index_t>& loop = part_.loops.front();
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(loop.size());
      const std::size_t u = 2 * local_vertex(part_, loop[k]);
      x[u] = std::cos(angle);
      x[u + 1] = std::sin(angle);
    }
    (void)normalize(x);
  }

  /// False where the boundary is a point.
  bool normalize(Values& x) const {
    boundary_.centre(x);
    const double size = std::sqrt(boundary_.product(x, x));
    if (!(size > 1e-12)) return false;
    multiply(x, 1 / size);
    return true;
  }

  /// Rows of triangles, and sigma B: sqrt(sigma w) times each coordinate of the boundary.
  void assemble() {
    const std::size_t triangles = triangles_.size();
    const auto count = static_cast<offset_t>(triangles + boundary_.vertices.size());
    builder_.assemble(count, [&](SystemChunk<double>& chunk, offset_t i) {
      const auto k = static_cast<std::size_t>(i);
      if (k < triangles) return add_conformal_rows(chunk, mesh_, part_, triangles_[k]);
      const std::size_t b = k - triangles;
      for (std::size_t axis = 0; axis < 2; ++axis) {
        chunk.begin_row();
        chunk.coefficient(static_cast<index_t>(2 * boundary_.vertices[b] + axis),
                          std::sqrt(sigma_ * boundary_.weights[b]));
        chunk.end_row();
      }
    });
  }

  Values rows_of(const Values& x) const {
    const CsrMatrix<double>& A = builder_.matrix();
    Values rows(2 * triangles_.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double sum = 0;
      for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
        sum += A.values(at(k)) * x[at(A.columns(at(k)))];
      rows[i] = sum;
    }
    return rows;
  }

  /// y of (L + sigma B) y = B x, from where it would be if x were the eigenvector.
  SolveReport next(SystemSolver& solver, Values& y) const {
    const auto b = zeroed<double>("b", at(builder_.matrix().rows));
    for (std::size_t k = 0; k < boundary_.vertices.size(); ++k)
      for (std::size_t axis = 0; axis < 2; ++axis)
        b(2 * (triangles_.size() + k) + axis) =
            std::sqrt(boundary_.weights[k] / sigma_) * current_.x[2 * boundary_.vertices[k] + axis];
    const auto solution = uninitialized<double>("uv", current_.x.size());
    for (std::size_t i = 0; i < current_.x.size(); ++i)
      solution(i) = current_.x[i] / (lambda_ + sigma_);
    const SolveReport report = solver.solve(Vector<const double>(b), solution);
    y.assign(solution.data(), solution.data() + solution.extent(0));
    return report;
  }

  /// Makes it orthonormal, in B, to the basis and appends it, unless nothing is left of it.
  void append(std::vector<Direction>& basis, Direction direction) const {
    for (int again = 0; again < 2; ++again)
      for (const Direction& known : basis)
        direction.add(-boundary_.product(direction.x, known.x), known);
    const double size = std::sqrt(boundary_.product(direction.x, direction.x));
    if (!(size > 1e-10)) return;
    direction.scale(1 / size);
    basis.push_back(std::move(direction));
  }

  /// The best of what x, y and the last change of x span. The first x is no solution of anything: y takes its place.
  void improve(Values y) {
    if (!normalize(y)) return;
    Direction newest{std::move(y), {}};
    newest.rows = rows_of(newest.x);
    std::vector<Direction> basis;
    if (!first_) append(basis, current_);
    append(basis, std::move(newest));
    if (!first_ && !change_.x.empty()) append(basis, std::move(change_));
    first_ = false;
    const std::array<double, 3> factor = least_combination(basis);
    Direction best{Values(current_.x.size(), 0), Values(current_.rows.size(), 0)}, change = best;
    for (std::size_t k = 0; k < basis.size(); ++k) {
      best.add(factor[k], basis[k]);
      if (k > 0) change.add(factor[k], basis[k]);
    }
    current_ = std::move(best);
    change_ = std::move(change);
    lambda_ = dot(current_.rows, current_.rows);
  }

  void iterate(SystemSolver& solver, SpectralOutcome& outcome) {
    SolveReport& all = outcome.report;
    double change = 1;
    while (outcome.solves < most_solves && change > enough && lambda_ > conformal) {
      Values y;
      const SolveReport one = next(solver, y);
      ++outcome.solves;
      collect(all, one);
      if (!std::all_of(y.begin(), y.end(), [](double v) { return std::isfinite(v); })) break;
      const double before = lambda_;
      improve(std::move(y));
      change = std::abs(before - lambda_) / lambda_;
      if (!one.converged()) return;
    }
    if (change > enough && lambda_ > conformal) {
      all.status = SolveStatus::max_iterations;
      all.detail = "the energy still changed by " + std::to_string(change) + " of it after " +
                   std::to_string(outcome.solves) + " solves";
    }
  }

  static void collect(SolveReport& all, const SolveReport& one) {
    SolveReport sum = one;
    sum.iterations += all.iterations;
    sum.restarts += all.restarts;
    sum.seconds += all.seconds;
    sum.bytes += all.bytes;
    sum.flops += all.flops;
    sum.history.insert(sum.history.begin(), all.history.begin(), all.history.end());
    all = std::move(sum);
  }

  const Mesh& mesh_;
  const Component& part_;
  std::vector<index_t> triangles_;  // that have equations
  Boundary boundary_;
  SystemBuilder<double> builder_;
  double sigma_ = 1, lambda_ = 0;
  Direction current_, change_;
  bool first_ = true;
};

}  // namespace

SpectralOutcome map_spectrally(const Mesh& mesh, const Component& part,
                               const std::vector<index_t>& skipped, std::vector<Uv>& uv,
                               SystemSolver& solver, WorkTimes& times) {
  SpectralOutcome outcome;
  SpectralMap map(mesh, part, skipped, uv);
  map.solve(solver, times, outcome);
  map.store(uv);
  return outcome;
}

}  // namespace cnc::geometry
