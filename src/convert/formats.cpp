#include "convert/spaces.hpp"

#include <cnc/formats.hpp>

#include <algorithm>
#include <limits>
#include <string>

// The list of formats: a new format is a new line of the table at the end, and its functions above it.

namespace cnc {
namespace {

// --- expectations about host kernels: estimates, to be replaced by measurements ---------------------

/// Below this many stored values per row of blocks a loop over one row cannot hide its start and end.
constexpr double short_row_values = 8;
/// Share of memory speed that row-wise kernels reach on such rows, on longer rows of blocks, and on longer rows of scalars, which
/// gather x entry by entry.
constexpr double short_row_efficiency = 0.7;
constexpr double long_row_efficiency = 1.0;
constexpr double long_scalar_row_efficiency = 0.8;
/// Sliced kernels do not care about row length; they scatter results and read a permutation.
constexpr double sliced_efficiency = 0.9;
/// Both with 2x2 blocks, measured on wathen and elasticity2d with AVX-512: no more than scalars reach, of fewer bytes.
constexpr double long_pair_row_efficiency = 0.78;
constexpr double sliced_pair_efficiency = 0.8;
/// Diagonal kernels gather nothing; the symmetric one reads each value a second time from cache. With
/// more runs of values than hardware prefetchers follow, both fall back.
constexpr double dia_streams = 1.0;
constexpr double dia_symmetric_streams = 0.75;
constexpr offset_t many_diagonals = 32;
constexpr double many_diagonals_penalty = 0.6;

// --- expectations about device kernels, measured on H200s and H100s ------------------------------------------

/// A share of memory speed, for values of 8 and of 4 bytes.
struct DeviceShare {
  double f64, f32;
  double of(int value_bytes) const { return value_bytes == 8 ? f64 : f32; }
};
/// Of scalars; with columns of 32 bits first.
constexpr DeviceShare device_csr = {0.70, 0.66};
constexpr DeviceShare device_csr_short_columns = {0.80, 0.72};
constexpr DeviceShare device_csr_short_columns_and_rows = {0.77, 0.58};
constexpr DeviceShare device_bcsr = {0.60, 0.50};
constexpr DeviceShare device_sliced_scalars = {0.82, 0.82};
constexpr DeviceShare device_sliced_short_columns = {0.72, 0.65};
constexpr DeviceShare device_sliced_pairs = {0.74, 0.73};  ///< 2x2
constexpr DeviceShare device_sliced_blocks = {0.90, 0.88};
constexpr DeviceShare device_dia = {0.90, 0.77};
constexpr DeviceShare device_dia_symmetric = {0.74, 0.56};

/// Waiting, as bytes that memory could have brought in the meantime. A sliced product has more loads that wait for
/// one another than a product by rows; a thread works through the diagonals a few at a time.
constexpr double device_bytes_per_microsecond = 4.5e6;
constexpr double device_sliced_start = 1.4 * device_bytes_per_microsecond;
constexpr double device_diagonal_step = 0.07 * device_bytes_per_microsecond;
/// So many diagonals take no longer than the start of a product by rows.
constexpr offset_t device_free_diagonals = 8;

// --- shared by both ----------------------------------------------------------------------------------

/// Row lengths within a sort window are taken to spread over this many standard deviations.
constexpr double window_spread_deviations = 6;

/// Blocks of size b: known for the sizes that analyze counted; for others the worst case, every entry
/// in a block of its own.
double block_count(const Structure& structure, int block_size) {
  const auto nonzeros = static_cast<double>(structure.nonzeros);
  if (block_size == 1) return nonzeros;
  for (const BlockOccupancy& occupancy : structure.occupancy)
    if (occupancy.block_size == block_size) return static_cast<double>(occupancy.blocks);
  const double all = static_cast<double>(ceil_div(structure.rows, block_size)) *
                     ceil_div(structure.cols, block_size);
  return std::min(nonzeros, all);
}

bool valid_block_size(const FormatSpec& spec) {
  return spec.block_size >= 1 && spec.block_size <= max_block_size;
}

/// Whether columns are short, see find_short_columns: on a device, where the matrix is narrow enough.
bool has_short_columns(const Structure& structure, int block_size, int value_bytes,
                       MemorySpace memory) {
  const index_t width = std::max(structure.lower_bandwidth, structure.upper_bandwidth);
  return memory == MemorySpace::device &&
         width / block_size < std::numeric_limits<ShortColumn>::max() &&
         std::size_t(value_bytes * block_size * block_size) <= largest_short_column_block;
}

template <template <class> class Operand, class T>
Operand<T> sized_operand(const Structure& structure, int block_size, MemorySpace memory) {
  static constexpr ShortColumn some = 0;
  Operand<T> A;
  A.rows = structure.rows;
  A.cols = structure.cols;
  A.block_size = block_size;
  if (has_short_columns(structure, block_size, sizeof(T), memory)) A.short_columns = &some;
  return A;
}

double stored_per_block_row(const Structure& structure, int block_size) {
  if (structure.rows == 0) return 0;
  return block_count(structure, block_size) * block_size * block_size /
         ceil_div(structure.rows, block_size);
}

double row_wise_efficiency(const Structure& structure, int block_size) {
  if (stored_per_block_row(structure, block_size) < short_row_values) return short_row_efficiency;
  if (block_size == 1) return long_scalar_row_efficiency;
  return block_size == 2 ? long_pair_row_efficiency : long_row_efficiency;
}

// --- csr ------------------------------------------------------------------------------------------

double bcsr_storage(const Structure& structure, int block_size, int value_bytes,
                    MemorySpace memory) {
  const auto blocks = static_cast<offset_t>(block_count(structure, block_size));
  const auto bytes = [&](const auto& A) {
    return cost::spmv(A, blocks, structure.nonzeros, 0).bytes;
  };
  return value_bytes == 4
             ? bytes(sized_operand<BcsrOperand, float>(structure, block_size, memory))
             : bytes(sized_operand<BcsrOperand, double>(structure, block_size, memory));
}

double csr_bytes(const Structure& structure, const FormatSpec&, int value_bytes,
                 MemorySpace memory) {
  return bcsr_storage(structure, 1, value_bytes, memory);
}

double csr_efficiency(const Structure& structure, const FormatSpec&, int value_bytes,
                      MemorySpace memory) {
  if (memory == MemorySpace::device) {
    const bool are_short = has_short_columns(structure, 1, value_bytes, memory);
    return (!are_short                              ? device_csr
            : structure.mean_row < short_row_values ? device_csr_short_columns_and_rows
                                                    : device_csr_short_columns)
        .of(value_bytes);
  }
  return row_wise_efficiency(structure, 1);
}

template <class T, class Space>
Matrix<T, Space> build_csr(const CsrMatrix<T, Space>& A, const FormatSpec&) {
  require(A.block_size == 1, "build_format: the matrix must be CSR (block size 1)");
  return A;
}

// --- bcsr -----------------------------------------------------------------------------------------

double bcsr_bytes(const Structure& structure, const FormatSpec& spec, int value_bytes,
                  MemorySpace memory) {
  return valid_block_size(spec) ? bcsr_storage(structure, spec.block_size, value_bytes, memory)
                                : -1;
}

double bcsr_efficiency(const Structure& structure, const FormatSpec& spec, int value_bytes,
                       MemorySpace memory) {
  if (memory == MemorySpace::device) return device_bcsr.of(value_bytes);
  return row_wise_efficiency(structure, spec.block_size);
}

template <class T, class Space>
Matrix<T, Space> build_bcsr(const CsrMatrix<T, Space>& A, const FormatSpec& spec) {
  return to_bcsr(A, spec.block_size);
}

// --- bsell ----------------------------------------------------------------------------------------

/// Padding slots per block, estimated. The lengths in a sorted window descend, so the paddings of its
/// slices add up to at most one slice height times (longest - shortest): per row that is the spread
/// over the number of slices, and half of it on average. A row that is much longer than the others may be the only one of its window, and
/// pads the rest of its slice; there are at most as many as the deviation allows. Lengths in blocks spread like those in entries.
double bsell_padding(const Structure& structure, int slice_height, MemorySpace memory) {
  if (structure.mean_row == 0) return 0;
  const int slices = memory == MemorySpace::device ? device_sort_slices : default_sort_slices;
  const double most = structure.longest_row - structure.shortest_row;
  const double usual = window_spread_deviations * structure.row_deviation;
  const double above = structure.longest_row - structure.mean_row;
  const double outliers =
      above > usual ? (slice_height - 1) * structure.row_deviation * structure.row_deviation / above
                    : 0;
  const double per_row = std::min(0.5 * std::min(most, usual) / slices + outliers, most / slices);
  return per_row / structure.mean_row;
}

double bsell_bytes(const Structure& structure, const FormatSpec& spec, int value_bytes,
                   MemorySpace memory) {
  if (!valid_block_size(spec)) return -1;
  const auto bytes = [&](auto A, int host_height) {
    A.slice_height = memory == MemorySpace::device ? device_slice_height : host_height;
    // The last slice is whole: with few rows that is most of them.
    const double lanes_per_row =
        A.block_rows() == 0 ? 1 : double(A.slices()) * A.slice_height / A.block_rows();
    const auto slots =
        static_cast<offset_t>(block_count(structure, spec.block_size) * lanes_per_row *
                              (1 + bsell_padding(structure, A.slice_height, memory)));
    return cost::spmv(A, slots, structure.nonzeros, 0).bytes;
  };
  return value_bytes == 4
             ? bytes(sized_operand<BsellOperand, float>(structure, spec.block_size, memory),
                     host_slice_height<float>)
             : bytes(sized_operand<BsellOperand, double>(structure, spec.block_size, memory),
                     host_slice_height<double>);
}

double bsell_efficiency(const Structure& structure, const FormatSpec& spec, int value_bytes,
                        MemorySpace memory) {
  if (memory != MemorySpace::device)
    return spec.block_size == 2 ? sliced_pair_efficiency : sliced_efficiency;
  const bool are_short = has_short_columns(structure, spec.block_size, value_bytes, memory);
  const double share = (spec.block_size > 2    ? device_sliced_blocks
                        : spec.block_size == 2 ? device_sliced_pairs
                        : are_short            ? device_sliced_short_columns
                                               : device_sliced_scalars)
                           .of(value_bytes);
  const double bytes = bsell_bytes(structure, spec, value_bytes, memory);
  return bytes / (bytes / share + device_sliced_start);
}

template <class T, class Space>
Matrix<T, Space> build_bsell(const CsrMatrix<T, Space>& A, const FormatSpec& spec) {
  return to_bsell(A, spec.block_size);
}

// --- dia ------------------------------------------------------------------------------------------

/// `stored_diagonals` of A by diagonals; negative when their fill would be absurd.
double dia_storage(const Structure& structure, offset_t stored_diagonals, int value_bytes) {
  if (!dia_holds(stored_diagonals * structure.rows, structure.nonzeros)) return -1;
  const auto bytes = [&](auto A) {
    A.rows = structure.rows;
    A.cols = structure.cols;
    A.diagonals = static_cast<index_t>(stored_diagonals);
    return cost::spmv(A, structure.nonzeros, 0).bytes;
  };
  return value_bytes == 4 ? bytes(DiaOperand<float>{}) : bytes(DiaOperand<double>{});
}

double dia_bytes(const Structure& structure, const FormatSpec&, int value_bytes, MemorySpace) {
  return dia_storage(structure, structure.diagonals, value_bytes);
}

double dia_symmetric_bytes(const Structure& structure, const FormatSpec&, int value_bytes,
                           MemorySpace) {
  return structure.value_symmetric
             ? dia_storage(structure, (structure.diagonals + 1) / 2, value_bytes)
             : -1;
}

/// Few rows leave nothing to do while a thread waits.
double device_dia_efficiency(const Structure& structure, double bytes, double share) {
  if (bytes == 0) return share;
  const offset_t waited_for = std::max<offset_t>(0, structure.diagonals - device_free_diagonals);
  const double waiting = device_diagonal_step * static_cast<double>(waited_for);
  return bytes / std::max(bytes / share, waiting);
}
double dia_efficiency(const Structure& structure, const FormatSpec& spec, int value_bytes,
                      MemorySpace memory) {
  if (memory == MemorySpace::device)
    return device_dia_efficiency(structure, dia_bytes(structure, spec, value_bytes, memory),
                                 device_dia.of(value_bytes));
  return structure.diagonals > many_diagonals ? dia_streams * many_diagonals_penalty : dia_streams;
}
double dia_symmetric_efficiency(const Structure& structure, const FormatSpec& spec, int value_bytes,
                                MemorySpace memory) {
  if (memory == MemorySpace::device)
    return device_dia_efficiency(structure,
                                 dia_symmetric_bytes(structure, spec, value_bytes, memory),
                                 device_dia_symmetric.of(value_bytes));
  return dia_symmetric_streams * dia_efficiency(structure, spec, value_bytes, memory);
}

template <class T, class Space>
Matrix<T, Space> build_dia(const CsrMatrix<T, Space>& A, const FormatSpec&) {
  return to_dia(A, false);
}
template <class T, class Space>
Matrix<T, Space> build_dia_symmetric(const CsrMatrix<T, Space>& A, const FormatSpec&) {
  return to_dia(A, true);
}

}  // namespace

template <class T, class Space>
const std::vector<FormatInfo<T, Space>>& formats() {
  static const std::vector<FormatInfo<T, Space>> table = {
      {"csr", "compressed sparse rows", false, 1, csr_bytes, csr_efficiency, build_csr<T, Space>},
      {"bcsr", "compressed rows of dense BxB blocks", true, 2, bcsr_bytes, bcsr_efficiency,
       build_bcsr<T, Space>},
      {"bsell", "slices of sorted rows of BxB blocks, one row per SIMD lane", true, 1, bsell_bytes,
       bsell_efficiency, build_bsell<T, Space>},
      {"dia", "diagonals", false, 1, dia_bytes, dia_efficiency, build_dia<T, Space>},
      {"dia-symmetric", "diagonals, upper half only", false, 1, dia_symmetric_bytes,
       dia_symmetric_efficiency, build_dia_symmetric<T, Space>},
  };
  return table;
}

template const std::vector<FormatInfo<float>>& formats();
template const std::vector<FormatInfo<double>>& formats();
#ifdef CNC_KOKKOS_HAS_DEVICE
template const std::vector<FormatInfo<float, detail::DeviceSpace>>& formats();
template const std::vector<FormatInfo<double, detail::DeviceSpace>>& formats();
#endif

}  // namespace cnc
