// nlSolverParameter, nlGet, nlEnable and nlSetFunction.
#include "nl/call.hpp"

#include <algorithm>
#include <limits>

namespace cnc::nl {
namespace {

constexpr NLenum solvers[] = {NL_SOLVER_DEFAULT,
                              NL_CG,
                              NL_BICGSTAB,
                              NL_GMRES,
                              NL_SUPERLU_EXT,
                              NL_PERM_SUPERLU_EXT,
                              NL_SYMMETRIC_SUPERLU_EXT,
                              NL_SOLVER_USER,
                              NL_CHOLMOD_EXT,
                              NL_AMGCL_EXT,
                              NL_CNC_FLOAT_CRS_EXT,
                              NL_CNC_FLOAT_BCRS2_EXT,
                              NL_CNC_DOUBLE_CRS_EXT,
                              NL_CNC_DOUBLE_BCRS2_EXT,
                              NL_CNC_FLOAT_ELL_EXT,
                              NL_CNC_DOUBLE_ELL_EXT,
                              NL_CNC_FLOAT_HYB_EXT,
                              NL_CNC_DOUBLE_HYB_EXT};
constexpr NLenum preconditioners[] = {NL_PRECOND_NONE, NL_PRECOND_JACOBI, NL_PRECOND_SSOR,
                                      NL_PRECOND_USER};

template <std::size_t N>
NLenum one_of(const NLenum (&known)[N], NLint value) {
  const auto name = static_cast<NLenum>(value);
  if (std::find(std::begin(known), std::end(known), name) == std::end(known)) fail_unknown(name);
  return name;
}

NLuint positive(NLint value) {
  if (value < 1)
    fail(NL_INVALID_VALUE_CNC, std::to_string(value) + " is out of range: 1 is the least");
  return static_cast<NLuint>(value);
}

/// What shapes the variables is settled with the first system.
void require_no_system(const Context& c) { require_state(c, {State::initial}); }
void require_between_systems(const Context& c) {
  require_state(c, {State::initial, State::system_constructed, State::solved});
}

void set_integer(Context& c, NLenum name, NLint value) {
  Parameters& p = c.parameters;
  require_between_systems(c);
  switch (name) {
    case NL_SOLVER: p.solver = p.asked_solver = one_of(solvers, value); break;
    case NL_PRECONDITIONER:
      p.preconditioner = one_of(preconditioners, value);
      p.preconditioner_asked = true;
      break;
    case NL_MAX_ITERATIONS:
      p.max_iterations = positive(value);
      p.max_iterations_asked = true;
      break;
    case NL_INNER_ITERATIONS: p.inner_iterations = positive(value); break;
    case NL_NB_VARIABLES:
      require_no_system(c);
      p.variables = positive(value);
      break;
    case NL_NB_SYSTEMS:
      require_no_system(c);
      p.systems = positive(value);
      break;
    case NL_LEAST_SQUARES:
      require_no_system(c);
      p.least_squares = value != NL_FALSE;
      break;
    case NL_SYMMETRIC:
      require_no_system(c);
      p.symmetric = value != NL_FALSE;
      break;
    default: fail_unknown(name);
  }
}

void set_real(Context& c, NLenum name, double value) {
  require_between_systems(c);
  switch (name) {
    case NL_THRESHOLD:
      if (!(value >= 0 && value < std::numeric_limits<double>::infinity()))
        fail(NL_INVALID_VALUE_CNC, "NL_THRESHOLD is a number, 0 or more");
      c.parameters.threshold = value;
      break;
    case NL_OMEGA:
      if (!(value > 0 && value < 2))
        fail(NL_INVALID_VALUE_CNC, "NL_OMEGA is a number above 0 and below 2");
      c.parameters.omega = value;
      break;
    default: fail_unknown(name);
  }
}

long long nonzeros(Context& c) {
  const auto n = static_cast<long long>(c.free_variables);
  if (c.parameters.matrix_function != nullptr) return n * n;
  return system_matrix(c).nonzeros;
}

long long integer(Context& c, NLenum name) {
  const Parameters& p = c.parameters;
  switch (name) {
    case NL_SOLVER: return p.solver;
    case NL_PRECONDITIONER: return p.preconditioner;
    case NL_NB_VARIABLES: return p.variables;
    case NL_NB_SYSTEMS: return p.systems;
    case NL_LEAST_SQUARES: return p.least_squares;
    case NL_SYMMETRIC: return p.symmetric;
    case NL_MAX_ITERATIONS: return p.max_iterations;
    case NL_INNER_ITERATIONS: return p.inner_iterations;
    case NL_USED_ITERATIONS: return c.outcome.iterations;
    case NL_NNZ: return nonzeros(c);
    case NL_NB_FREE_VARIABLES_CNC: return c.free_variables;
    case NL_CONVERGED_CNC: return c.outcome.converged;
    case NL_VALUES_REFRESHED_CNC: return c.stiffness.was_refreshed();
    default: fail_unknown(name);
  }
}

double real(const Context& c, NLenum name) {
  switch (name) {
    case NL_THRESHOLD: return c.parameters.threshold;
    case NL_OMEGA: return c.parameters.omega;
    case NL_ERROR: return c.outcome.error;
    case NL_ELAPSED_TIME: return c.seconds;
    case NL_GFLOPS: return c.seconds > 0 ? c.outcome.flops / c.seconds * 1e-9 : 0.0;
    default: fail_unknown(name);
  }
}

bool* switch_named(Parameters& p, NLenum name) {
  switch (name) {
    case NL_NORMALIZE_ROWS: return &p.normalize_rows;
    case NL_VERBOSE: return &p.verbose;
    case NL_VARIABLES_BUFFER: return &p.own_buffers;
    case NL_NO_VARIABLES_INDIRECTION: return &p.no_indirection;
    default: fail_unknown(name);
  }
}

void turn(const char* function, NLenum name, bool on) {
  on_current(function, [&](Context& c) {
    bool* const which = switch_named(c.parameters, name);
    if (name == NL_NORMALIZE_ROWS && c.state == State::row)
      fail(NL_INVALID_OPERATION_CNC, "out of order: it was called in NL_ROW");
    *which = on;
  });
}

template <class Integer>
void get_integer(const char* function, NLenum name, Integer* value) {
  on_current(function, [&](Context& c) {
    require_pointer(value);
    *value = static_cast<Integer>(integer(c, name));
  });
}

}  // namespace
}  // namespace cnc::nl

using namespace cnc::nl;

void nlSolverParameterd(NLenum pname, NLdouble param) {
  on_current("nlSolverParameterd", [&](Context& c) { set_real(c, pname, param); });
}

void nlSolverParameteri(NLenum pname, NLint param) {
  on_current("nlSolverParameteri", [&](Context& c) { set_integer(c, pname, param); });
}

void nlGetBooleanv(NLenum pname, NLboolean* params) {
  on_current("nlGetBooleanv", [&](Context& c) {
    require_pointer(params);
    switch (pname) {
      case NL_LEAST_SQUARES:
      case NL_SYMMETRIC:
      case NL_CONVERGED_CNC:
      case NL_VALUES_REFRESHED_CNC: *params = integer(c, pname) != 0; break;
      default: *params = *switch_named(c.parameters, pname);
    }
  });
}

void nlGetDoublev(NLenum pname, NLdouble* params) {
  on_current("nlGetDoublev", [&](Context& c) {
    require_pointer(params);
    *params = real(c, pname);
  });
}

void nlGetIntegerv(NLenum pname, NLint* params) { get_integer("nlGetIntegerv", pname, params); }

void nlGetIntegervL(NLenum pname, NLlong* params) { get_integer("nlGetIntegervL", pname, params); }

void nlEnable(NLenum pname) { turn("nlEnable", pname, true); }

void nlDisable(NLenum pname) { turn("nlDisable", pname, false); }

NLboolean nlIsEnabled(NLenum pname) {
  return on_current("nlIsEnabled", NLboolean{NL_FALSE}, [&](Context& c) {
    return static_cast<NLboolean>(*switch_named(c.parameters, pname));
  });
}

void nlSetFunction(NLenum pname, NLfunc param) {
  on_current("nlSetFunction", [&](Context& c) {
    Parameters& p = c.parameters;
    if (c.is_solving) fail(NL_INVALID_OPERATION_CNC, "out of order: nlSolve is at work");
    switch (pname) {
      case NL_FUNC_SOLVER:
        p.solver_function = param == nullptr ? default_solver : (SolverFunction)param;
        if (p.solver_function != default_solver)
          p.solver = p.asked_solver = NL_SOLVER_USER;
        else if (p.asked_solver == NL_SOLVER_USER)
          p.solver = p.asked_solver = NL_SOLVER_DEFAULT;
        break;
      case NL_FUNC_MATRIX: p.matrix_function = (MatrixFunction)param; break;
      case NL_FUNC_PRECONDITIONER:
        p.preconditioner_function = (MatrixFunction)param;
        p.preconditioner = param == nullptr ? NL_PRECOND_NONE : NL_PRECOND_USER;
        p.preconditioner_asked = true;
        break;
      case NL_FUNC_PROGRESS: p.progress = (ProgressFunction)param; break;
      default: fail_unknown(pname);
    }
  });
}

void nlGetFunction(NLenum pname, NLfunc* param) {
  on_current("nlGetFunction", [&](Context& c) {
    require_pointer(param);
    const Parameters& p = c.parameters;
    switch (pname) {
      case NL_FUNC_SOLVER: *param = (NLfunc)p.solver_function; break;
      case NL_FUNC_MATRIX: *param = (NLfunc)p.matrix_function; break;
      case NL_FUNC_PRECONDITIONER: *param = (NLfunc)p.preconditioner_function; break;
      case NL_FUNC_PROGRESS: *param = (NLfunc)p.progress; break;
      default: fail_unknown(pname);
    }
  });
}
