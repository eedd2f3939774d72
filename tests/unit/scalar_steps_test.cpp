// The scalar steps of methods: when there is none, and what they compute.

#include "support/catch.hpp"

#include <cnc/contract/methods.hpp>

#include <limits>
#include <vector>

namespace cnc::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double tiny = std::numeric_limits<double>::denorm_min();
constexpr double huge = std::numeric_limits<double>::max();

struct Quotient {
  double dividend, divisor;
  Breakdown of_definite, of_any;
};

TEST_CASE("a step that cannot be taken says why") {
  constexpr auto none = Breakdown::none, zero = Breakdown::zero_divisor;
  constexpr auto indefinite = Breakdown::not_positive_definite, not_finite = Breakdown::not_finite;
  const Quotient table[] = {
      {1, 2, none, none},
      {tiny, huge, none, none},
      {huge, tiny, none, none},
      {1, 0, zero, zero},
      {1, -0.0, zero, zero},
      {0, 1, zero, none},
      {0, 0, zero, zero},
      {-1, 1, indefinite, none},
      {1, -1, indefinite, none},
      {-1, -1, indefinite, none},
      {-1, 0, indefinite, zero},
      {0, -1, indefinite, none},
      {nan, 1, not_finite, not_finite},
      {1, nan, not_finite, not_finite},
      {nan, 0, not_finite, not_finite},
      {nan, -1, not_finite, not_finite},
      {infinity, 1, not_finite, not_finite},
      {1, infinity, not_finite, not_finite},
      {-infinity, 1, not_finite, not_finite},
      {1, -infinity, not_finite, not_finite},
  };
  for (const Quotient& q : table) {
    INFO(q.dividend << " / " << q.divisor);
    CHECK(methods::check_positive(q.dividend, q.divisor) == q.of_definite);
    CHECK(methods::check_divisor(q.dividend, q.divisor) == q.of_any);
  }
}

TEST_CASE("one reduction: the curvature by recurrence is that of Chronopoulos and Gear") {
  using C = methods::CgSingleReduction<double>;
  MethodScalars s;
  double alpha = 0, gamma_previous = 0;
  const std::vector<std::pair<double, double>> sums = {{4, 9}, {2.5, 6}, {1.25, 3.5}, {0.5, 1.75}};
  for (const auto& [gamma, delta] : sums) {
    s[C::rz] = gamma;
    s[C::zq] = delta;
    const double beta = s.first ? 0 : gamma / gamma_previous;
    const double curvature = s.first ? delta : delta - beta * gamma / alpha;
    REQUIRE(C::Update::step(s) == Breakdown::none);
    CHECK(s[C::beta] == Approx(beta));
    CHECK(s[C::pAp] == Approx(curvature));
    CHECK(s[C::alpha] == Approx(gamma / curvature));
    C::Update::after(s);
    alpha = s[C::alpha];
    gamma_previous = gamma;
  }
}

TEST_CASE("bicgstab2: the least residual over two directions, over one, or over none") {
  using C = methods::Bicgstab2<double>;
  struct Sums {
    double r_s, ss, r_t, st, tt, omega, omega_2;
  };
  const Sums table[] = {
      {1, 2, 0, 2, 5, 5.0 / 6, -1.0 / 3},
      {0, 4, 3, 0, 9, 0, 1.0 / 3},  // what a skew matrix leaves
      {3, 2, 6, 4, 8, 1.5, 0},      // t = 2 s
      {3, 2, 6, 4, 8 * (1 + 1e-15), 1.5, 0},
      {3, 2, 0, 0, 0, 1.5, 0},  // t = 0
      {0, 0, 0, 0, 0, 0, 0},
      {1e-300, 1e-300, 1e-300, 0, 1e-300, 1, 1},
      {1e300, 1e300, 1e300, 0, 1e300, 1, 1},
  };
  for (const Sums& t : table) {
    MethodScalars s;
    s[C::r_Br] = t.r_s;
    s[C::Br_Br] = t.ss;
    s[C::r_BBr] = t.r_t;
    s[C::Br_BBr] = t.st;
    s[C::BBr_BBr] = t.tt;
    INFO(t.r_s << " " << t.ss << " " << t.r_t << " " << t.st << " " << t.tt);
    REQUIRE(C::Update::step(s) == Breakdown::none);
    CHECK(s[C::omega] == Approx(t.omega));
    CHECK(s[C::omega_2] == Approx(t.omega_2));
  }
  for (const int sum : {C::r_Br, C::Br_Br, C::r_BBr, C::Br_BBr, C::BBr_BBr})
    for (const double value : {nan, infinity, -infinity}) {
      MethodScalars s;
      s[sum] = value;
      CHECK(C::Update::step(s) == Breakdown::not_finite);
    }
}

TEST_CASE("bicgstab2: no next direction without all that it is made of") {
  using C = methods::Bicgstab2<double>;
  MethodScalars s;
  CHECK(C::Direction::step(s) == Breakdown::none);  // the first
  s.first = 0;
  for (const int factor : {C::rho, C::shadow_Br, C::shadow_BBp, C::omega_2}) s[factor] = 2;
  CHECK(C::Direction::step(s) == Breakdown::none);
  for (const int factor : {C::rho, C::shadow_Br, C::shadow_BBp, C::omega_2}) {
    MethodScalars without = s;
    without[factor] = 0;
    CHECK(C::Direction::step(without) == Breakdown::zero_divisor);
    without[factor] = nan;
    CHECK(C::Direction::step(without) == Breakdown::not_finite);
  }
}

TEST_CASE("a step that breaks down changes no scalar") {
  using C = methods::CgSingleReduction<double>;
  MethodScalars s;
  s[C::rz] = 4;
  s[C::zq] = 9;
  REQUIRE(C::Update::step(s) == Breakdown::none);
  C::Update::after(s);
  s[C::zq] = -1;  // delta - beta^2 curvature < 0
  const MethodScalars before = s;
  CHECK(C::Update::step(s) == Breakdown::not_positive_definite);
  for (int k = 0; k < C::scalars; ++k) CHECK(s[k] == before[k]);
}

}  // namespace
}  // namespace cnc::testing
