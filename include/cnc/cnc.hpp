#pragma once

/// @mainpage
///
/// cnc::Solver solves A x = b on a cnc::Context, which says where and by which backend. Matrices come from the caller's
/// arrays (cnc::wrap_csr, cnc::wrap_bcsr), from entries in any order (cnc::csr_from_triplets), from elements or equations
/// (cnc::SystemBuilder), from files
/// (cnc::read_matrix) or from cnc::generate_problem; vectors from cnc::wrap or cnc::zeroed. cnc::ScopeGuard
/// comes before them all. Everything that the library throws is a cnc::Error.
///
/// What stands in the headers of cnc/contract is for authors of backends.

/// @namespace cnc
/// Everything of the library.
/// @namespace cnc::cost
/// Compulsory bytes and useful flops of the operations.

#include <cnc/amg.hpp>
#include <cnc/automatic_preconditioner.hpp>
#include <cnc/backend.hpp>
#include <cnc/bcsr_matrix.hpp>
#include <cnc/block_jacobi.hpp>
#include <cnc/blas1.hpp>
#include <cnc/bsell_matrix.hpp>
#include <cnc/context.hpp>
#include <cnc/convert.hpp>
#include <cnc/copy.hpp>
#include <cnc/dia_matrix.hpp>
#include <cnc/error.hpp>
#include <cnc/formats.hpp>
#include <cnc/incomplete.hpp>
#include <cnc/instance_scope.hpp>
#include <cnc/io.hpp>
#include <cnc/least_squares.hpp>
#include <cnc/linear_operator.hpp>
#include <cnc/matrix.hpp>
#include <cnc/model.hpp>
#include <cnc/multivector.hpp>
#include <cnc/options.hpp>
#include <cnc/polynomial.hpp>
#include <cnc/preconditioner.hpp>
#include <cnc/problems.hpp>
#include <cnc/relaxation.hpp>
#include <cnc/reorder.hpp>
#include <cnc/scope_guard.hpp>
#include <cnc/solver.hpp>
#include <cnc/spmm.hpp>
#include <cnc/spmv.hpp>
#include <cnc/system_builder.hpp>
#include <cnc/triplets.hpp>
#include <cnc/vector.hpp>
