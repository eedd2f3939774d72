#pragma once

#include <cnc/convert.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cnc {

/// Which layout to build: "csr", "bcsr:3", "bsell:1", ... as on the command line.
/// name "auto" lets choose_format decide.
struct FormatSpec {
  std::string name = "auto";  ///< without the block size
  int block_size = 1;         ///< ignored by formats without blocks

  /// Text that parse_format reads back: "bcsr:3", "csr".
  std::string text() const;
  bool operator==(const FormatSpec&) const = default;
};

/// Where a square matrix is least symmetric: the entry that differs most from its mirror image, a missing
/// entry counting as zero. The first such entry by rows; row -1 for a symmetric matrix.
struct Asymmetry {
  index_t row = -1;     ///< of the entry
  index_t column = -1;  ///< of the entry
  double value = 0;     ///< a(row, column)
  double mirror = 0;    ///< a(column, row)
  /// |a(i,j) - a(j,i)| over the largest of |a(i,j)|, |a(j,i)| and sqrt(|a(i,i) a(j,j)|), which bounds both in
  /// a positive definite matrix. Infinite for a NaN.
  double relative = 0;
};

/// Facts about the pattern of a square or rectangular CSR matrix that decide which format suits it.
struct Structure {
  index_t rows = 0;
  index_t cols = 0;
  offset_t nonzeros = 0;           ///< entries of the pattern, explicit zeros included
  index_t longest_row = 0;         ///< its entries
  index_t shortest_row = 0;        ///< its entries
  index_t empty_rows = 0;          ///< rows without entries
  double mean_row = 0;             ///< entries
  double row_deviation = 0;        ///< standard deviation of the row lengths
  index_t lower_bandwidth = 0;     ///< largest row - col, at least 0
  index_t upper_bandwidth = 0;     ///< largest col - row, at least 0
  offset_t diagonals = 0;          ///< distinct offsets col - row that hold an entry
  bool pattern_symmetric = false;  ///< every entry (i,j) has an entry (j,i); square matrices only
  bool value_symmetric = false;    ///< pattern_symmetric, and a(i,j) == a(j,i) exactly
  double asymmetry = 0;            ///< max |a(i,j) - a(j,i)| / max |a(i,j)|; square matrices only
  Asymmetry least_symmetric;       ///< square matrices only
  std::vector<BlockOccupancy> occupancy;  ///< for block sizes 2, 3, 4, 5, 6, 8
};

/// Reads the facts off the matrix.
/// Errors   InvalidArgument (A not valid CSR).
/// Cost     O(nonzeros log(row length)), in parallel where the matrix is, and O(nonzeros) on a host for entries near the
///          diagonal; one byte of scratch per row and column, and on a host 8 more per row.
template <class T, class Space>
Structure analyze(const CsrMatrix<T, Space>& A);

/// What analyze says of symmetry, without the rest of it.
/// Errors   InvalidArgument (A not square, not valid CSR).
/// Cost     as analyze, with 8 bytes of scratch per row on a host; sorts a copy of rows in another order.
template <class T, class Space>
Asymmetry find_asymmetry(const CsrMatrix<T, Space>& A);

/// One storage format as data: the only list of formats is in src/convert/formats.cpp.
template <class T, class Space = HostSpace>
struct FormatInfo {
  const char* name;         ///< as in FormatSpec
  const char* description;  ///< one line for lists of formats
  bool has_blocks;          ///< takes ":B"
  /// Smallest block size worth comparing: 2 where block size 1 is another format of the list.
  int smallest_block_size;

  /// Stands behind predicted_bytes.
  double (*bytes)(const Structure&, const FormatSpec&, int value_bytes, MemorySpace);
  /// Stands behind expected_efficiency.
  double (*efficiency)(const Structure&, const FormatSpec&, int value_bytes, MemorySpace);
  /// Stands behind build_format.
  Matrix<T, Space> (*build)(const CsrMatrix<T, Space>& A, const FormatSpec&);

  /// Bytes of matrix storage (values, indices, padding) if built from this structure, as one SpMV
  /// reads them (cnc/contract/cost.hpp); a negative value means that the format cannot hold the matrix.
  /// Exact for block sizes in structure.occupancy but for padding; other sizes are taken at their worst.
  double predicted_bytes(const Structure& structure, const FormatSpec& spec, int value_bytes,
                         MemorySpace memory = memory_of<Space>) const {
    return bytes(structure, spec, value_bytes, memory);
  }
  /// Share of memory speed at which kernels in that memory are expected to read those bytes.
  double expected_efficiency(const Structure& structure, const FormatSpec& spec, int value_bytes,
                             MemorySpace memory = memory_of<Space>) const {
    return efficiency(structure, spec, value_bytes, memory);
  }
};

/// All formats, csr first. The list is the same for all types; only `build` differs.
template <class T, class Space = HostSpace>
const std::vector<FormatInfo<T, Space>>& formats();

/// Reads "auto", "csr", "bcsr:B", ...; block sizes default to 1 when omitted.
/// Errors   InvalidArgument naming the text and the known formats.
FormatSpec parse_format(std::string_view text);

/// The specs that are worth comparing on a matrix of this structure: every format, block formats at
/// each size whose density is at least `min_density`. Formats that cannot hold it are left out.
std::vector<FormatSpec> comparable_formats(const Structure& structure, double min_density = 0.5);

/// What choose_format chose, and why: one sentence per spec considered, then one for the choice.
struct FormatAdvice {
  FormatSpec format;                 ///< the choice
  std::vector<std::string> reasons;  ///< sentences
};
/// The spec with the least predicted time: predicted bytes over expected efficiency of kernels on the
/// host or on a device. `csr_value_bytes`: of values in CSR, which shares them with the caller, where copies have others; 0: the same.
FormatAdvice choose_format(const Structure& structure, int value_bytes,
                           MemorySpace memory = MemorySpace::host, int csr_value_bytes = 0);

/// Builds A in the given layout, in the memory where A is ("auto" is resolved by analyze and
/// choose_format). The layout csr is A
/// itself, sharing its views.
/// Errors   InvalidArgument (unknown format, block size, format cannot hold the matrix).
template <class T, class Space>
Matrix<T, Space> build_format(const CsrMatrix<T, Space>& A, const FormatSpec& spec);

}  // namespace cnc
