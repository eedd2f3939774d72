#pragma once

#include <gpu/bcsr_rows.hpp>
#include <gpu/bsell_rows.hpp>
#include <gpu/csr_balanced.hpp>
#include <gpu/dia_rows.hpp>
#include <gpu/dictionary_rows.hpp>
#include <gpu/kernel_set.hpp>
#include <gpu/stencil_rows.hpp>

#include <target/launch.hpp>
#include <target/tuning.hpp>

#include <algorithm>
#include <bit>
#include <type_traits>

// From a matrix known at run time to the rows object compiled for it, and the threads per block that go with
// it. Block size is a value here and a constant in the kernel.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Calls f(std::integral_constant<int, b>): b is a compiled block size, or 0 for all others.
template <class F>
decltype(auto) with_block_size(int block_size, const F& f) {
  switch (block_size) {
    case 1: return f(std::integral_constant<int, 1>());
    case 2: return f(std::integral_constant<int, 2>());
    case 3: return f(std::integral_constant<int, 3>());
  }
  if constexpr (all_kernels) switch (block_size) {
      case 4: return f(std::integral_constant<int, 4>());
      case 5: return f(std::integral_constant<int, 5>());
      case 6: return f(std::integral_constant<int, 6>());
      case 8: return f(std::integral_constant<int, 8>());
    }
  return f(std::integral_constant<int, 0>());
}

/// Threads of a product below which a row is shared between more of them: fewer do not fill the device.
inline double threads_with_work(const Queue& queue) {
  return double(device_facts(queue.device).processors) * tuning::spmv_threads_per_processor;
}

inline constexpr int most_csr_lanes = all_kernels ? 32 : 8;

/// Lanes per row of CSR: few, so that each has several loads under way, unless there are few rows.
inline int csr_lanes(const Queue& queue, index_t rows, index_t nonzeros, int wave) {
  const double mean = rows > 0 ? double(nonzeros) / rows : 0;
  const double room = threads_with_work(queue);
  int lanes = 2;
  while (lanes < std::min(wave, most_csr_lanes) &&
         (lanes * tuning::csr_entries_per_lane < mean ||
          (rows * 2.0 * lanes <= room && mean >= 4.0 * lanes)))
    lanes *= all_kernels ? 2 : 4;
  return lanes;
}

/// Calls f(rows, threads) with the rows object for this matrix of scalar rows in its format.
template <int wave, class V, class M, class F>
decltype(auto) with_scalar_rows(const Queue& queue, const BcsrOperand<M>& A, const F& f) {
  const int lanes = csr_lanes(queue, A.rows, A.blocks, wave);
  if (lanes == 2) return f(BcsrRows<wave, 1, 2, false, M, V>{A}, tuning::csr_threads);
  if constexpr (all_kernels) {
    if (lanes == 4) return f(BcsrRows<wave, 1, 4, false, M, V>{A}, tuning::csr_threads);
    if (lanes == 8) return f(BcsrRows<wave, 1, 8, false, M, V>{A}, tuning::csr_threads);
    if (lanes == 16) return f(BcsrRows<wave, 1, 16, false, M, V>{A}, tuning::csr_threads);
  }
  return f(BcsrRows<wave, 1, most_csr_lanes, false, M, V>{A}, tuning::csr_threads);
}

/// The same for rows of any block size.
template <int wave, class V, class M, class F>
decltype(auto) with_rows(const Queue& queue, const BcsrOperand<M>& A, const F& f) {
  return with_block_size(A.block_size, [&](auto size) -> decltype(auto) {
    constexpr int b = decltype(size)::value;
    if constexpr (b == 1) {
      return with_scalar_rows<wave, V>(queue, A, f);
    } else {
      constexpr int lanes = b == 2 ? tuning::bcsr_2_lanes : wave;
      return f(BcsrRows<wave, b, lanes, false, M, V>{A}, tuning::bcsr_threads);
    }
  });
}

/// Threads that share a row, so that a matrix with few rows still fills the device.
inline int bsell_split(const Queue& queue, index_t units, offset_t slots) {
  const double mean = units > 0 ? double(slots) / units : 0;
  const double room = threads_with_work(queue);
  int split = 1;
  while (split < 16 && units * 2.0 * split <= room && mean >= 4.0 * split) split *= 2;
  return split;
}

/// k when value is 2^k, else -1.
constexpr int exponent_of_two(int value) {
  return std::has_single_bit(static_cast<unsigned>(value))
             ? std::countr_zero(static_cast<unsigned>(value))
             : -1;
}

template <int block, class V, class M, class F>
decltype(auto) with_slices(const Queue& queue, const BsellOperand<M>& A, const F& f) {
  return f(BsellRows<block, M, V>{A, bsell_split(queue, A.block_rows(), A.slots),
                                  exponent_of_two(A.slice_height)},
           tuning::bsell_threads);
}
template <int wave, class V, class M, class F>
decltype(auto) with_scalar_rows(const Queue& queue, const BsellOperand<M>& A, const F& f) {
  return with_slices<1, V>(queue, A, f);
}
template <int wave, class V, class M, class F>
decltype(auto) with_rows(const Queue& queue, const BsellOperand<M>& A, const F& f) {
  return with_block_size(A.block_size, [&](auto size) -> decltype(auto) {
    return with_slices<decltype(size)::value, V>(queue, A, f);
  });
}

template <int wave, class V, class M, class F>
decltype(auto) with_rows(const Queue&, const DiaOperand<M>& A, const F& f) {
  return A.symmetric ? f(DiaRows<DiaWalk::symmetric, M, V>{A}, tuning::dia_threads)
                     : f(DiaRows<DiaWalk::general, M, V>{A}, tuning::dia_threads);
}
template <int wave, class V, class M, class F>
decltype(auto) with_scalar_rows(const Queue& queue, const DiaOperand<M>& A, const F& f) {
  return with_rows<wave, V>(queue, A, f);
}

/// Entries of a row from a dictionary whose parts of x are fetched at once: of all of a short row (five and seven points of a
/// grid), a third of one of 27 points, and 27 of longer ones that are no parts of one.
inline constexpr int short_row = 7, part_of_row = 9, part_of_long_row = 27;
/// Rows that are parts of one of up to seven points, and of any number.
template <class M, class V>
using ShortStencilRows = StencilRows<short_row, short_row, M, V>;
template <class M, class V>
using LongStencilRows = StencilRows<RowStencil<M>::most, part_of_row, M, V>;

/// Whether all rows are parts of a short one.
template <class M>
bool has_short_stencil(const RowDictionaryOperand<M>& A) {
  return A.stencil != nullptr && A.stencil->size <= short_row;
}

/// Whether rows are short, and of several kinds that are no parts of one.
template <class M>
bool has_short_kinds(const RowDictionaryOperand<M>& A) {
  return A.codes != nullptr && A.stencil == nullptr && A.longest <= short_row;
}

/// Rows from which on a product reads their dictionary. Short rows of floats are in the cache as they are for longer.
template <class M>
index_t least_dictionary_rows(const RowDictionaryOperand<M>& A) {
  return sizeof(M) == 4 && has_short_stencil(A) ? tuning::least_dictionary_rows_in_float
                                                : tuning::least_dictionary_rows;
}

/// Whether a product of its own reads the dictionary of rows in place of the arrays.
template <class Operand>
bool reads_dictionary_of(const Operand& A) {
  return A.dictionary.codes != nullptr && A.rows >= least_dictionary_rows(A.dictionary);
}

/// Calls f(rows, threads) for a product of its own that is not by the rows of the format: with equal shares, or from their dictionary.
/// False, and nothing called: it is by those.
template <int wave, class V, class Operand, class F>
bool with_rows_beside(const Operand& A, const F& f) {
  using M = typename Operand::value_type;
  if constexpr (requires { A.row_offsets; })
    if (is_balanced(A)) {
      using Balanced = BalancedCsr<wave, M, V>;
      f(Balanced{A}, Balanced::most_threads);
      return true;
    }
  if (!reads_dictionary_of(A)) return false;
  if (has_short_stencil(A.dictionary))
    f(ShortStencilRows<M, V>{A.dictionary, A.rows}, tuning::dictionary_threads);
  else if (A.dictionary.stencil != nullptr)
    f(LongStencilRows<M, V>{A.dictionary, A.rows}, tuning::dictionary_threads);
  else if (A.dictionary.block_size == 3)
    f(DictionaryBlocks<3, M, V>{A.dictionary, A.rows}, tuning::dictionary_threads);
  else if (A.dictionary.block_size == 2)
    f(DictionaryBlocks<2, M, V>{A.dictionary, A.rows}, tuning::dictionary_threads);
  else if (A.dictionary.longest <= part_of_row)
    f(DictionaryRows<part_of_row, M, V>{{A.rows}, A.dictionary}, tuning::dictionary_threads);
  else
    f(DictionaryRows<part_of_long_row, M, V>{{A.rows}, A.dictionary}, tuning::dictionary_threads);
  return true;
}

/// Calls f(rows, threads) for a product of its own.
template <int wave, class V, class Operand, class F>
void with_product_rows(const Queue& queue, const Operand& A, const F& f) {
  if (!with_rows_beside<wave, V>(A, f)) with_rows<wave, V>(queue, A, f);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
