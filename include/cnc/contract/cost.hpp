#pragma once

#include <cnc/contract/methods.hpp>
#include <cnc/contract/operands.hpp>

namespace cnc {

/// Compulsory bytes (each operand read once, each result written once; beta == 0) and useful flops.
struct Cost {
  double bytes = 0;  ///< read and written
  double flops = 0;  ///< additions and multiplications

  /// One after the other.
  constexpr Cost operator+(const Cost& other) const {
    return {bytes + other.bytes, flops + other.flops};
  }
  /// Repeated.
  constexpr Cost operator*(double count) const { return {bytes * count, flops * count}; }
};

namespace cost {

/// y := A x from a dictionary of rows, which is read once.
template <class T>
constexpr Cost spmv(const RowDictionaryOperand<T>& A, index_t rows, index_t cols, offset_t nonzeros,
                    int vector_bytes) {
  return {double(rows) + double(A.size) * sizeof(RowEntry<T>) +
              (double(A.kinds) + 1) * sizeof(index_t) + (double(rows) + cols) * vector_bytes,
          2.0 * double(nonzeros)};
}

/// Bytes of the index of a block.
template <class Operand>
constexpr double column_bytes(const Operand& A) {
  return A.short_columns != nullptr ? sizeof(ShortColumn) : sizeof(index_t);
}

/// Bytes of a value.
template <class Operand>
constexpr double value_bytes(const Operand& A) {
  return A.value_table.codes != nullptr ? sizeof(std::uint8_t)
                                        : sizeof(typename Operand::value_type);
}

/// y := A x. `nonzeros` are useful entries: fill costs bytes but earns no flops.
template <class T>
constexpr Cost spmv(const BcsrOperand<T>& A, offset_t blocks, offset_t nonzeros, int vector_bytes) {
  if (A.dictionary.codes != nullptr)
    return spmv(A.dictionary, A.rows, A.cols, nonzeros, vector_bytes);
  const double b2 = double(A.block_size) * A.block_size;
  return {double(blocks) * (b2 * value_bytes(A) + column_bytes(A)) +
              (double(A.block_rows()) + 1) * sizeof(index_t) +
              (double(A.rows) + A.cols) * vector_bytes,
          2.0 * double(nonzeros)};
}

/// y := A x; padding costs bytes but earns no flops.
template <class T>
constexpr Cost spmv(const BsellOperand<T>& A, offset_t slots, offset_t nonzeros, int vector_bytes) {
  if (A.dictionary.codes != nullptr)
    return spmv(A.dictionary, A.rows, A.cols, nonzeros, vector_bytes);
  const double b2 = double(A.block_size) * A.block_size;
  return {double(slots) * (b2 * value_bytes(A) + column_bytes(A)) +
              (double(A.slices()) + 1) * sizeof(offset_t) +
              double(A.block_rows()) * sizeof(index_t) + (double(A.rows) + A.cols) * vector_bytes,
          2.0 * double(nonzeros)};
}

/// The symmetric variant reads each stored entry once: its second use comes from cache.
template <class T>
constexpr Cost spmv(const DiaOperand<T>& A, offset_t nonzeros, int vector_bytes) {
  if (A.dictionary.codes != nullptr)
    return spmv(A.dictionary, A.rows, A.cols, nonzeros, vector_bytes);
  return {double(A.diagonals) * (double(A.rows) * sizeof(T) + sizeof(index_t)) +
              (double(A.rows) + A.cols) * vector_bytes,
          2.0 * double(nonzeros)};
}

/// `passes` vectors of n scalars read or written, `flops_per_row` useful operations per row.
constexpr Cost vectors(index_t n, double passes, double flops_per_row, int vector_bytes) {
  return {passes * n * vector_bytes, flops_per_row * n};
}

/// Vectors that a resident iteration of CG moves besides those of its SpMV: the others stay on chip; only what the product
/// gathers crosses the grid through memory: it is written, and read once more by the row that it belongs to.
inline constexpr double resident_passes = 2;
/// Classic CG from plain operations: p.q 2, axpby 3, two axpy 6, M^-1 r 3, r.z 2, r.r 1.
inline constexpr double plain_passes = 17;

/// What an iteration with a Jacobi preconditioner does besides its products.
constexpr Cost iteration(Method method, index_t n, int vector_bytes) {
  const MethodFacts& facts = method_facts(method);
  return vectors(n, facts.passes, facts.flops_per_row, vector_bytes);
}

}  // namespace cost
}  // namespace cnc
