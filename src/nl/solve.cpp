// nlSolve: from what the context says to a request for an engine, and back.
#include "nl/call.hpp"
#include "nl/extensions.hpp"

#include <cnc/least_squares.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace cnc::nl {
namespace {

/// The context is at work for as long as this lives.
class Solving {
 public:
  explicit Solving(Context& c) : c_(c) { c_.is_solving = true; }
  ~Solving() { c_.is_solving = false; }
  Solving(const Solving&) = delete;
  Solving& operator=(const Solving&) = delete;

 private:
  Context& c_;
};

struct LayoutName {
  NLenum name;
  const char* format;
  int block_size;
  bool is_single;
};
constexpr LayoutName layouts[] = {
    {NL_CNC_FLOAT_CRS_EXT, "csr", 1, true},    {NL_CNC_DOUBLE_CRS_EXT, "csr", 1, false},
    {NL_CNC_FLOAT_BCRS2_EXT, "bcsr", 2, true}, {NL_CNC_DOUBLE_BCRS2_EXT, "bcsr", 2, false},
    {NL_CNC_FLOAT_ELL_EXT, "bsell", 1, true},  {NL_CNC_DOUBLE_ELL_EXT, "bsell", 1, false},
    {NL_CNC_FLOAT_HYB_EXT, "auto", 1, true},   {NL_CNC_DOUBLE_HYB_EXT, "auto", 1, false}};

/// Solver, method and layout of NL_SOLVER.
void choose_method(const Parameters& p, Setup& setup) {
  switch (p.solver) {
    case NL_CG: setup.method = Method::pcg; return;
    case NL_BICGSTAB: setup.method = Method::bicgstab; return;
    case NL_GMRES:
      setup.method = Method::gmres;
      setup.restart = static_cast<int>(p.inner_iterations);
      return;
    case NL_SOLVER_USER:
    case NL_SOLVER_DEFAULT:
      setup.method = p.least_squares || p.symmetric ? Method::pcg : Method::bicgstab;
      return;
    default: break;
  }
  for (const LayoutName& layout : layouts) {
    if (p.solver != layout.name) continue;
    setup.method = Method::pcg;
    setup.format = {layout.format, layout.block_size};
    if (layout.is_single) setup.storage = StoragePrecision::f32;
    if (!p.preconditioner_asked) setup.preconditioner = NL_PRECOND_JACOBI;
    return;
  }
  fail(NL_UNSUPPORTED_CNC, "this NL_SOLVER is not offered: there are NL_CG, NL_BICGSTAB, NL_GMRES");
}

void choose_preconditioner(const Parameters& p, Setup& setup) {
  if (setup.preconditioner == NL_PRECOND_USER) {
    if (p.preconditioner_function == nullptr)
      fail(NL_INVALID_OPERATION_CNC,
           "NL_PRECOND_USER: nlSetFunction(NL_FUNC_PRECONDITIONER, f) comes first");
    setup.preconditioner_function = p.preconditioner_function;
  } else if (p.matrix_function != nullptr) {
    setup.preconditioner = NL_PRECOND_NONE;  // the others are made from a matrix
  }
  if (setup.preconditioner == NL_PRECOND_SSOR) setup.omega = p.omega;
}

/// Calls the progress function, and says where it is from time to time.
void tell(const Parameters& p, const Progress& progress) {
  const double reference =
      progress.relative_residual > 0 ? progress.residual / progress.relative_residual : 0;
  const double error = progress.residual * progress.residual;
  const double wanted = p.threshold * p.threshold * reference * reference;
  if (p.progress != nullptr)
    p.progress(static_cast<NLuint>(progress.iteration), p.max_iterations, error, wanted);
  if (p.verbose && (p.progress == nullptr || progress.iteration % 100 == 0)) {
    std::array<char, 96> line{};
    std::snprintf(line.data(), line.size(), "nl: iteration %d: ||b - Ax||^2 %.6e of %.6e",
                  progress.iteration, error, wanted);
    print_line(stdout, line.data());
  }
}

Request request_of(Context& c) {
  const Parameters& p = c.parameters;
  Request request;
  Setup& setup = request.setup;
  setup.preconditioner = p.preconditioner;
  choose_method(p, setup);
  choose_preconditioner(p, setup);
  setup.matrix_function = p.matrix_function;
  setup.unknowns = c.free_variables;
  setup.least_squares = p.least_squares && p.matrix_function == nullptr && !c.normal_b_is_given;
  request.systems = p.systems;
  request.x = c.x.data();
  request.threshold = p.threshold;
  request.max_iterations = static_cast<index_t>(std::min(p.max_iterations, NLuint{2147483647u}));
  if (setup.least_squares) {
    request.matrix = &c.stiffness.matrix();
    request.rows = request.matrix->rows;
    request.b = c.b.data();
    request.b_stride = p.systems;
    request.b_next = 1;
  } else {
    if (p.matrix_function == nullptr) request.matrix = &system_matrix(c);
    request.rows = c.free_variables;
    request.b = system_right_hand_side(c, 0);
    request.b_next = static_cast<std::size_t>(c.free_variables);
  }
  request.pattern_version = c.stiffness.pattern_version();
  request.value_version = c.stiffness.value_version();
  if (p.progress != nullptr || p.verbose) {
    request.callback = [&p](const Progress& progress) { tell(p, progress); };
    request.callback_interval = p.progress != nullptr ? 1 : 0;
  }
  return request;
}

Engine& engine_for(Context& c, Request& request) {
  const bool has_functions =
      request.setup.matrix_function != nullptr || request.setup.preconditioner_function != nullptr;
  if (solves_on_device() && !has_functions) {
    if (c.device_engine == nullptr) c.device_engine = make_device_engine();
    if (c.device_engine != nullptr) {
      if (stores_single_precision()) request.setup.storage = StoragePrecision::f32;
      return *c.device_engine;
    }
  }
  if (c.host_engine == nullptr) c.host_engine = make_host_engine();
  return *c.host_engine;
}

/// The solver that is built in. Errors: Failure where there is no answer.
void solve(Context& c) {
  if (c.free_variables == 0) {
    c.outcome.converged = true;
    return;
  }
  Request request = request_of(c);
  c.outcome = engine_for(c, request).solve(request);
  if (c.parameters.verbose) {
    std::array<char, 96> line{};
    std::snprintf(line.data(), line.size(), "nl: %d iterations, ||b - Ax|| / ||b|| %.6e",
                  c.outcome.iterations, c.outcome.error);
    print_line(stdout, line.data());
  }
  if (!c.outcome.has_answer) fail(NL_SOLVE_FAILED_CNC, c.outcome.text);
}

/// visit(unknown, buffer, variable) for each free variable of each system.
template <class Visit>
void for_each_unknown(Context& c, const Visit& visit) {
  const auto n = static_cast<std::size_t>(c.free_variables);
  for (std::size_t k = 0; k < c.buffers.size(); ++k)
    for (std::size_t i = 0; i < c.unknowns.size(); ++i)
      if (c.unknowns[i] >= 0)
        visit(c.x[k * n + static_cast<std::size_t>(c.unknowns[i])], c.buffers[k], i);
}

bool solve_system(Context& c) {
  require_state(c, {State::system_constructed});
  if (c.is_spoilt) fail(NL_INVALID_OPERATION_CNC, "the system has a fault: " + c.fault);
  const auto begin = std::chrono::steady_clock::now();
  const Solving solving(c);
  c.outcome = {};
  c.x.resize(static_cast<std::size_t>(c.free_variables) * c.parameters.systems);
  for_each_unknown(c, [](double& x, const Buffer& buffer, std::size_t i) { x = buffer.get(i); });
  bool is_solved = true;
  if (c.parameters.solver_function == default_solver)
    solve(c);
  else
    is_solved = c.parameters.solver_function() != NL_FALSE;
  for_each_unknown(c, [](double x, const Buffer& buffer, std::size_t i) { buffer.set(i, x); });
  c.state = State::solved;
  c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return is_solved;
}

void require_solver_function(const Context& c, NLuint k) {
  if (!c.is_solving)
    fail(NL_INVALID_OPERATION_CNC, "out of order: it belongs in a function that nlSolve calls");
  require_below("system", k, c.parameters.systems);
}

}  // namespace

NLboolean default_solver() {
  return on_current("default solver", NLboolean{NL_FALSE}, [](Context& c) {
    require_solver_function(c, 0);
    solve(c);
    return NLboolean{NL_TRUE};
  });
}

}  // namespace cnc::nl

using namespace cnc::nl;

NLboolean nlSolve(void) {
  return on_current("nlSolve", NLboolean{NL_FALSE},
                    [](Context& c) { return static_cast<NLboolean>(solve_system(c)); });
}

void nlUpdateRightHandSide(NLdouble* values) {
  on_current("nlUpdateRightHandSide", [&](Context& c) {
    require_state(c, {State::system_constructed, State::solved});
    require_pointer(values);
    if (c.parameters.systems != 1) fail(NL_INVALID_OPERATION_CNC, "there is more than one system");
    std::vector<double>& b = c.parameters.least_squares ? c.normal_b : c.b;
    b.assign(values, values + c.free_variables);
    c.normal_b_is_given = c.parameters.least_squares;
    c.state = State::system_constructed;
  });
}

const double* nlGetRightHandSideCNC(NLuint k) {
  return on_current("nlGetRightHandSideCNC", static_cast<const double*>(nullptr), [&](Context& c) {
    require_solver_function(c, k);
    return system_right_hand_side(c, k);
  });
}

double* nlGetSolutionCNC(NLuint k) {
  return on_current("nlGetSolutionCNC", static_cast<double*>(nullptr), [&](Context& c) {
    require_solver_function(c, k);
    return c.x.data() + std::size_t{k} * static_cast<std::size_t>(c.free_variables);
  });
}
