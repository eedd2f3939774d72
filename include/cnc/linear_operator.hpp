#pragma once

#include <cnc/vector.hpp>

#include <functional>

namespace cnc {

/// A square operator given by what it does: y := A x on vectors of V in Space, asynchronously on the
/// context's stream if the space has one. For matrix-free solves.
template <class V, class Space = HostSpace>
struct LinearOperator {
  index_t rows = 0;  ///< and columns
  /// y := A x.
  std::function<void(const Vector<const V, Space>& x, const Vector<V, Space>& y)> apply;
  /// y := A^T x, for methods that need it (bicg, cgnr, lsqr); may be empty.
  std::function<void(const Vector<const V, Space>& x, const Vector<V, Space>& y)> apply_transposed =
      {};
};

/// A preconditioner given by what it does: z := M^-1 r, asynchronously on the context's stream if the space has one;
/// symmetric positive definite for CG. One that is set up from the matrix is a PreconditionerBase.
template <class V, class Space = HostSpace>
using PreconditionerFunction =
    std::function<void(const Vector<const V, Space>& r, const Vector<V, Space>& z)>;

/// What the caller promises of a PreconditionerFunction: PreconditionerBase::only_enqueues.
enum class EnqueuesOnly { no, yes };

}  // namespace cnc
