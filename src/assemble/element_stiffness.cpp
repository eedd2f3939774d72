#include <assemble/element_stiffness.hpp>

#include <cmath>

namespace cnc::detail {
namespace {

template <int Dim>
using Point = std::array<double, Dim>;

/// Gradients of all shape functions at a point of the reference element [-1, 1]^Dim, with respect to
/// the coordinates of the element with unit edges (twice the reference gradients).
template <int Dim>
std::array<Point<Dim>, Q1<Dim>::nodes> shape_gradients(const Point<Dim>& at) {
  std::array<Point<Dim>, Q1<Dim>::nodes> gradients{};
  for (int node = 0; node < Q1<Dim>::nodes; ++node) {
    for (int derivative = 0; derivative < Dim; ++derivative) {
      double product = 2;
      for (int axis = 0; axis < Dim; ++axis) {
        const double sign = (node >> axis & 1) != 0 ? 1 : -1;
        const double position = at[static_cast<std::size_t>(axis)];
        product *= (axis == derivative ? sign : 1 + sign * position) / 2;
      }
      gradients[static_cast<std::size_t>(node)][static_cast<std::size_t>(derivative)] = product;
    }
  }
  return gradients;
}

/// Entry (a, i), (b, j) of the integrand for isotropic material in index form,
/// lambda N_a,i N_b,j + mu N_a,j N_b,i + mu delta_ij N_a,k N_b,k, which in 2-D is plane strain.
template <int Dim>
double energy(const Point<Dim>& a, std::size_t i, const Point<Dim>& b, std::size_t j, double lambda,
              double mu) {
  double value = lambda * a[i] * b[j] + mu * a[j] * b[i];
  if (i == j) {
    for (std::size_t k = 0; k < Dim; ++k) {
      value += mu * a[k] * b[k];
    }
  }
  return value;
}

}  // namespace

template <int Dim>
typename Q1<Dim>::Stiffness element_stiffness(double poisson_ratio) {
  const double nu = poisson_ratio;
  const double lambda = nu / ((1 + nu) * (1 - 2 * nu));
  const double mu = 1 / (2 * (1 + nu));
  const double gauss = 1 / std::sqrt(3.0);
  const double weight = 1.0 / Q1<Dim>::nodes;  // unit Gauss weights times the Jacobian, (1/2)^Dim

  typename Q1<Dim>::Stiffness K{};
  for (int point = 0; point < Q1<Dim>::nodes; ++point) {
    Point<Dim> at;
    for (int axis = 0; axis < Dim; ++axis) {
      at[static_cast<std::size_t>(axis)] = (point >> axis & 1) != 0 ? gauss : -gauss;
    }
    const auto gradients = shape_gradients<Dim>(at);
    for (std::size_t row = 0; row < K.size(); ++row) {
      for (std::size_t col = row; col < K.size(); ++col) {
        K[row][col] += weight * energy<Dim>(gradients[row / Dim], row % Dim, gradients[col / Dim],
                                            col % Dim, lambda, mu);
      }
    }
  }
  for (std::size_t row = 0; row < K.size(); ++row) {
    for (std::size_t col = 0; col < row; ++col) {
      K[row][col] = K[col][row];
    }
  }
  return K;
}

template Q1<2>::Stiffness element_stiffness<2>(double);
template Q1<3>::Stiffness element_stiffness<3>(double);

}  // namespace cnc::detail
