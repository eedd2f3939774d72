#include <assemble/families.hpp>
#include <cnc/problems.hpp>

namespace cnc {
namespace {

struct Family {
  ProblemInfo info;
  std::size_t fields;  ///< after the name
  detail::ProblemRows (*rows)(const detail::ProblemText&);
  Vector<double> (*coordinates)(const detail::ProblemText&) = nullptr;
};

/// The only list of families.
const std::vector<Family>& families() {
  static const std::vector<Family> list = {
      {{"poisson2d", "poisson2d:NXxNY or poisson2d:N", "5-point Laplacian on a rectangle",
        "poisson2d:8x6", true, 1},
       1,
       detail::poisson2d},
      {{"poisson3d", "poisson3d:N or poisson3d:NXxNYxNZ", "7-point Laplacian on a box",
        "poisson3d:8", true, 1},
       1,
       detail::poisson3d},
      {{"stencil27", "stencil27:N", "27-point stencil on a cube: 26 on the diagonal, -1 elsewhere",
        "stencil27:6", true, 1},
       1,
       detail::stencil27},
      {{"elasticity2d", "elasticity2d:N",
        "plane strain on N x N Q1 elements, one side clamped, 2 unknowns per node",
        "elasticity2d:6", true, 2},
       1,
       detail::elasticity2d,
       detail::elasticity2d_coordinates},
      {{"elasticity3d", "elasticity3d:N",
        "linear elasticity on N x N x N Q1 elements, one face clamped, 3 unknowns per node",
        "elasticity3d:4", true, 3},
       1,
       detail::elasticity3d,
       detail::elasticity3d_coordinates},
      {{"wathen", "wathen:NXxNY", "mass matrix of serendipity elements with random densities",
        "wathen:5x4", true, 1},
       1,
       detail::wathen},
      {{"trefethen", "trefethen:N", "primes on the diagonal, ones at distances 1, 2, 4, 8, ...",
        "trefethen:20", true, 1},
       1,
       detail::trefethen},
      {{"convection3d", "convection3d:N:PECLET (PECLET >= 0)",
        "convection-diffusion on a cube, upwind differences, nonsymmetric", "convection3d:6:2",
        false, 1},
       2,
       detail::convection3d},
      {{"anisotropic2d", "anisotropic2d:N:EPS (EPS > 0)",
        "-u_xx - EPS u_yy on a square, 5-point differences", "anisotropic2d:8:0.01", true, 1},
       2,
       detail::anisotropic2d},
      {{"diffusion3d", "diffusion3d:N:CONTRAST (CONTRAST >= 1)",
        "heat conduction in a cube of N^3 cells whose conductivities differ at random, up to "
        "CONTRAST times",
        "diffusion3d:6:100", true, 1},
       2,
       detail::diffusion3d},
  };
  return list;
}

/// The family named before the first ':', or null.
const Family* find_family(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  for (const Family& family : families()) {
    if (family.info.name == name) {
      return &family;
    }
  }
  return nullptr;
}

}  // namespace

const std::vector<ProblemInfo>& problem_families() {
  static const std::vector<ProblemInfo> list = [] {
    std::vector<ProblemInfo> infos;
    for (const Family& family : families()) {
      infos.push_back(family.info);
    }
    return infos;
  }();
  return list;
}

bool is_problem(std::string_view text) {
  return text.find(':') != std::string_view::npos && find_family(text) != nullptr;
}

namespace {
const Family& required_family(std::string_view text) {
  const Family* const family = find_family(text);
  require(family != nullptr, [&] {
    std::string message = "problem '" + std::string(text) + "' is unknown; known are";
    for (const ProblemInfo& info : problem_families()) {
      message += (&info == &problem_families().front() ? " " : ", ") + info.name;
    }
    return message;
  });
  return *family;
}
detail::ProblemText fields_of(std::string_view text, const Family& family) {
  return {text, family.info.syntax, family.fields};
}
}  // namespace

detail::ProblemRows detail::problem_rows(std::string_view text) {
  const Family& family = required_family(text);
  return family.rows(fields_of(text, family));
}

CsrMatrix<double> generate_problem(std::string_view text) {
  const detail::ProblemRows problem = detail::problem_rows(text);
  return problem.make(0, problem.rows);
}

Vector<double> problem_coordinates(std::string_view text) {
  const Family& family = required_family(text);
  if (family.coordinates == nullptr) return {};
  return family.coordinates(fields_of(text, family));
}

}  // namespace cnc
