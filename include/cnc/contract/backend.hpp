#pragma once

#include <cnc/contract/ops.hpp>
#include <cnc/contract/peers.hpp>
#include <cnc/contract/precisions.hpp>

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>

namespace cnc {

/// Whether a backend can run on this machine, and what it runs on or why it cannot.
struct Availability {
  bool usable = false;  ///< contexts can be made
  std::string detail;   ///< "AVX-512, 2 threads" or "no device found"
};

namespace detail {
template <class... V>
std::tuple<VectorOps<V>...> vector_tables(const std::tuple<V...>&);
template <class... M, class... V>
std::tuple<MatrixTable<M, V>...> matrix_tables(const std::tuple<PrecisionTypes<M, V>...>&);
}  // namespace detail

/// @{
/// A table for each type of vectors, and for each precision.
using VectorTables = decltype(detail::vector_tables(VectorTypes()));
using MatrixTables = decltype(detail::matrix_tables(Precisions()));
/// @}

/// The tables that `make`, a lambda with the type as its template parameter, makes for each type of vectors.
template <class Make>
constexpr VectorTables for_vector_types(const Make& make) {
  return [&]<class... V>(std::type_identity<std::tuple<V...>>) {
    return VectorTables(make.template operator()<V>()...);
  }(std::type_identity<VectorTypes>());
}

/// The tables that `make`, a lambda with M and V as its template parameters, makes for each precision.
template <class Make>
constexpr MatrixTables for_precisions(const Make& make) {
  return [&]<class... M, class... V>(std::type_identity<std::tuple<PrecisionTypes<M, V>...>>) {
    return MatrixTables(make.template operator()<M, V>()...);
  }(std::type_identity<Precisions>());
}

/// What was enqueued once, to be enqueued again as one.
struct Recording {
  virtual ~Recording() = default;
  virtual void replay(const Queue&) const = 0;  ///< enqueues it, without waiting
};

/// What products read of a RowDictionaryOperand.
enum class ReadsDictionaries {
  no,       ///< nothing: the arrays of the format
  as_runs,  ///< of a matrix by diagonals or in blocks, where its rows, or blocks of them, follow each other in runs
  as_rows   ///< of any matrix
};

/// A kernel set: a constant table. Which backends exist is written in src/registry.cpp alone.
struct Backend {
  const char* name = "";                   ///< as find_backend takes it
  const char* description = "";            ///< one line for lists of backends
  MemorySpace memory = MemorySpace::host;  ///< where its operands are
  /// A baseline times somebody else's library; it is compared with, never chosen by `auto`.
  bool baseline = false;
  /// A variant forces one instruction set of another backend; listed on request.
  bool variant = false;
  ReadsDictionaries dictionaries = ReadsDictionaries::no;  ///< of rows
  /// Products read those of an operand in place of `columns`. On the hosts that were measured the loads of x decide, not these bytes.
  bool short_columns = false;
  bool value_tables = false;  ///< products read those of an operand in place of `values`
  /// Stored values from which on `prepare` looks for a table: before, all of them are in a cache.
  offset_t least_table_values = 0;
  Availability (*availability)() = nullptr;  ///< asks the machine; never null
  /// Host backends: threads that operations on the queue use at most; null: one.
  int (*threads)(const Queue& queue) = nullptr;
  /// Records what enqueue(context, queue) enqueues of this backend's operations on the queue that it is given, without
  /// doing it; null where enqueuing costs nothing worth saving.
  std::unique_ptr<Recording> (*record)(const Queue&, void (*enqueue)(void* context, const Queue&),
                                       void* context) = nullptr;
  /// Device backends: bytes free on a device, for messages about memory; null on the host.
  double (*free_bytes)(int device) = nullptr;
  /// Device backends: memory that devices of other processes reach; null, or answering null: there is none.
  const PeerMemory* (*peers)() = nullptr;

  VectorTables vectors = {};   ///< operations on vectors, by their type
  MatrixTables matrices = {};  ///< operations with matrices, by the precisions
};

/// The operations on vectors of V.
template <class V>
constexpr const VectorOps<V>& vector_ops(const Backend& backend) {
  return std::get<VectorOps<V>>(backend.vectors);
}

/// The operations with matrices of one format, whose entries may be narrower than the vectors of V, not wider.
template <class Operand, class V>
constexpr const MatrixOps<Operand, V>& matrix_ops(const Backend& backend) {
  using M = typename Operand::value_type;
  static_assert(sizeof(M) <= sizeof(V),
                "matrix storage may be narrower than the vectors, not wider");
  return std::get<MatrixTable<M, V>>(backend.matrices).template of<Operand>();
}

/// The same for the format of an operand.
template <class V, class Operand>
constexpr const MatrixOps<Operand, V>& matrix_ops(const Backend& backend, const Operand&) {
  return matrix_ops<Operand, V>(backend);
}

}  // namespace cnc
