#pragma once

#include <cnc/matrix.hpp>

namespace cnc {

// All conversions go through CSR and run in parallel where the matrix is: on the host, or, for matrices
// in the memory of Kokkos' default device execution space, on that device. The result is in the same
// memory. A conversion on a device starts after all that was enqueued there before and has ended on
// return. Conversions allocate the result and O(rows) scratch (O(nonzeros) at most for a transpose).
// Sources are checked with validate() first unless `checked` vouches for them, at the price of one pass
// over their indices: a column out of range would otherwise be written out of bounds. CSR whose rows are
// not in ascending order is taken too; a sorted copy of it (8 bytes and a value per entry) lives for as long
// as the conversion. `nonzeros`, the useful entries, is carried from the
// source to the result.

/// A memory space of Kokkos as one of the library's own two.
template <class Space>
inline constexpr MemorySpace memory_of = detail::memory_kind<Space>;

/// BCSR with blocks of `block_size`: every block that holds an entry of A is stored whole. Block size 1
/// returns A itself, sharing its views, rows in the order in which they are.
/// Errors   InvalidArgument (block size outside 1..16, more than 2^31 - 1 blocks, A not valid CSR).
/// Cost     O(nonzeros + blocks b): two passes, one that counts blocks, one that fills them.
template <class T, class Space>
BcsrMatrix<T, Space> to_bcsr(const CsrMatrix<T, Space>& A, int block_size);

/// Slice height that to_bsell takes on a device: the lanes of a warp of 32, half of one of 64.
inline constexpr int device_slice_height = 32;

/// Slices that the default sort window spans on a device: as many block rows as on the host.
inline constexpr int device_sort_slices = 8;

/// What to_bsell takes by default in a memory space.
template <class T, class Space>
inline constexpr int default_slice_height =
    memory_of<Space> == MemorySpace::device ? device_slice_height : host_slice_height<T>;
/// The same for the sort window, in slices.
template <class Space>
inline constexpr int default_window_slices =
    memory_of<Space> == MemorySpace::device ? device_sort_slices : default_sort_slices;

/// BSELL with blocks of `block_size`. slice_height 0 picks default_slice_height; sort_window 0 picks
/// default_window_slices slices. Within each window block rows are sorted by descending length, equal
/// ones keeping their order; sort_window 1 keeps the order of all rows. Padding repeats the last column
/// of its row (0 in an empty row).
/// Errors   InvalidArgument (block size, slice height outside 1..1024, negative sort window, A not
///          valid CSR).
/// Cost     O(nonzeros + slots b^2) and the sort.
template <class T, class Space>
BsellMatrix<T, Space> to_bsell(const CsrMatrix<T, Space>& A, int block_size = 1,
                               int slice_height = 0, index_t sort_window = 0);

/// Whether DIA would hold `entries` without absurd fill: at most 16 stored values per entry, or so
/// little in all (32 MB of double) that it does not matter.
constexpr bool dia_holds(offset_t stored, offset_t entries) {
  return stored <= 16 * entries || stored <= (offset_t(1) << 22);
}

/// DIA; `symmetric` keeps the upper half only and needs a(i, j) == a(j, i) exactly.
/// Errors   InvalidArgument (too many diagonals: see dia_holds; symmetric, but A is not).
/// Cost     O(rows + cols + nonzeros log(diagonals) + stored).
template <class T, class Space>
DiaMatrix<T, Space> to_dia(const CsrMatrix<T, Space>& A, bool symmetric = false);

/// @{
/// CSR from any format. Fill is dropped: a stored value that is zero does not come back, so explicit
/// zeros of the original are lost. A CSR matrix (block size 1) is returned as it is, sharing its views.
/// Errors   InvalidArgument (more than 2^31 - 1 nonzeros, A not valid).
template <class T, class Space>
CsrMatrix<T, Space> to_csr(const BcsrMatrix<T, Space>& A);
template <class T, class Space>
CsrMatrix<T, Space> to_csr(const BsellMatrix<T, Space>& A);
template <class T, class Space>
CsrMatrix<T, Space> to_csr(const DiaMatrix<T, Space>& A);
template <class T, class Space>
CsrMatrix<T, Space> to_csr(const Matrix<T, Space>& A) {
  return std::visit([](const auto& a) { return to_csr(a); }, A);
}
/// @}

/// The same matrix with values in another precision; the index arrays are shared, the values are
/// always a copy (also in the same precision). Inf and NaN stay what they are.
/// Errors   InvalidArgument when a finite value overflows the narrower type.
template <class To, class From, class Space>
BcsrMatrix<To, Space> convert_values(const BcsrMatrix<From, Space>& A);

/// The transpose of a CSR matrix. Columns ascend.
/// Errors   InvalidArgument (A not valid CSR).
/// Cost     two passes over A, on a device a sort of the rows besides; scratch of an index per entry, and on the host of
///          at most one counter per entry or column.
template <class T, class Space>
CsrMatrix<T, Space> transpose(const CsrMatrix<T, Space>& A);

/// @{
/// New values on an unchanged pattern: overwrites the values of `A` with those of `source`, allocating
/// nothing when the rows of `source` ascend, unless `A` has a dictionary of rows that no longer holds; rows of `A` must ascend. Every entry of `source` must have its place in `A`; the rest of `A` becomes zero.
/// `source` may be of another precision than `A`. Views that `A` shares with others (a CSR layout shares
/// those of the matrix it was built from) see the new values too; if `source` itself is one of them,
/// nothing is left to do. A.nonzeros becomes source.nonzeros.
/// Errors   InvalidArgument (`source` is not valid CSR; extents differ; A is read_only; an entry of `source`
///          has no place in `A` or overflows T). The pattern of `A` is then as before, its values are not.
/// Cost     O(stored), in parallel.
template <class T, class S, class Space>
void update_values(BcsrMatrix<T, Space>& A, const CsrMatrix<S, Space>& source);
template <class T, class S, class Space>
void update_values(BsellMatrix<T, Space>& A, const CsrMatrix<S, Space>& source);
template <class T, class S, class Space>
void update_values(DiaMatrix<T, Space>& A, const CsrMatrix<S, Space>& source);
template <class T, class S, class Space>
void update_values(Matrix<T, Space>& A, const CsrMatrix<S, Space>& source) {
  std::visit([&](auto& a) { update_values(a, source); }, A);
}
/// @}

/// How full the blocks of one block size would be.
struct BlockOccupancy {
  int block_size = 1;
  offset_t blocks = 0;  ///< stored blocks
  /// Useful / stored entries: d2, d3, ... of Verschoor & Jalba 2012, table 1. 0 without blocks.
  double density = 0;
};

/// Looks for rows of `source` that repeat, up to their place, and keeps the different ones beside A, a layout made of it:
/// products of backends that read them (Backend::dictionaries) then read a byte for a row in place of its entries, or less.
/// Returns whether there are at most 256 of them, with at most a quarter of the entries of the matrix; else, and for CSR,
/// which shares its arrays with the caller, A has none.
///
/// Values   products have the same terms, in another order: that of the diagonal first where all rows are parts of one, else by
///          ascending places in the source; on a host, where blocks of rows repeat, also in four sums, or beside terms that are
///          zero: what is not finite in x may reach the rows of the blocks next to those that have an entry there.
/// Errors   InvalidArgument (source not CSR of the same shape, not valid). Without memory for it A has none.
/// Cost     reads the source twice; where rows do not repeat, some thousand of them. 2 bytes of scratch per row and one that stays.
template <class T, class S, class Space>
bool find_row_dictionary(Matrix<T, Space>& A, const CsrMatrix<S, Space>& source);

/// Keeps the columns of A in 16 bits too, each less where it is (ShortColumn), where these hold all of them: products of backends that read them
/// (Backend::short_columns) then read 2 bytes for each block in place of 4. Returns whether they do; else, for diagonals, and for blocks of
/// more than 36 bytes, of which that would be less than a twentieth, A has none. In slices the padding of an empty row stands in
/// column 0, which has to be held too.
/// An update of values leaves them as they are; who changes columns in place has to empty them.
///
/// Errors   OutOfMemory. Columns of A are in range.
/// Cost     reads the columns once and takes half as many bytes again; where 16 bits do not hold them, up to the first that shows it.
template <class T, class Space>
bool find_short_columns(Matrix<T, Space>& A);

/// Looks for few values: where scalar rows have at most 256 different ones, bit for bit, the padding of slices counted, A keeps them and
/// a byte for each stored value, and products of backends that read these (Backend::value_tables) read it in place of the value. Returns
/// whether it does; else, for diagonals and for blocks, A has none. The same values get the same codes each time.
/// update_values looks again where A has one.
///
/// Errors   OutOfMemory.
/// Cost     reads the values twice and writes a byte for each; where there are more, up to the first part of them that shows it.
template <class T, class Space>
bool find_value_table(Matrix<T, Space>& A);

/// Counts the blocks that to_bcsr would store, without building them. A is valid CSR.
/// Errors   InvalidArgument (block size outside 1..16, A not CSR).
/// Cost     O(nonzeros + blocks b), in parallel.
template <class T, class Space>
BlockOccupancy block_occupancy(const CsrMatrix<T, Space>& A, int block_size);

}  // namespace cnc
