#include <cnc/amg.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace cnc {

template <class V>
std::vector<Vector<V>> rigid_body_modes(const Vector<const double>& coordinates, int dimension) {
  require(dimension == 2 || dimension == 3, "rigid_body_modes: the dimension must be 2 or 3");
  const auto d = static_cast<std::size_t>(dimension);
  const std::size_t n = coordinates.extent(0);
  require(n % d == 0,
          "rigid_body_modes: every node needs as many coordinates as there are dimensions");
  std::array<double, 3> centre{};
  for (std::size_t i = 0; i < n; ++i)
    centre[i % d] += coordinates(i) / double(std::max(n / d, std::size_t(1)));
  double size = 0;
  for (std::size_t i = 0; i < n; ++i)
    size = std::max(size, std::abs(coordinates(i) - centre[i % d]));
  if (!(size > 0)) size = 1;
  const auto at = [&](std::size_t node, std::size_t axis) {
    return (coordinates(node * d + axis) - centre[axis]) / size;
  };
  std::vector<Vector<V>> modes;
  for (std::size_t axis = 0; axis < d; ++axis) {
    modes.push_back(zeroed<V>("cnc::mode", n));
    for (std::size_t node = 0; node < n / d; ++node) modes.back()(node * d + axis) = V(1);
  }
  for (std::size_t a = 0; a < d; ++a)
    for (std::size_t b = a + 1; b < d; ++b) {  // a turn from axis a to axis b
      modes.push_back(zeroed<V>("cnc::mode", n));
      for (std::size_t node = 0; node < n / d; ++node) {
        modes.back()(node * d + a) = static_cast<V>(-at(node, b));
        modes.back()(node * d + b) = static_cast<V>(at(node, a));
      }
    }
  return modes;
}

template std::vector<Vector<float>> rigid_body_modes(const Vector<const double>&, int);
template std::vector<Vector<double>> rigid_body_modes(const Vector<const double>&, int);

}  // namespace cnc
