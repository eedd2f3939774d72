#include "io/csr_from_pieces.hpp"

#include "io/check_finite.hpp"
#include "io/memory_limit.hpp"
#include "parallel.hpp"

#include <algorithm>

namespace cnc::detail {

namespace {

using Symmetry = MatrixMarketHeader::Symmetry;

/// Consecutive rows of one thread. Every thread scans all entries and takes those of its own rows:
/// no atomics, and the file's order is kept, whatever the number of threads.
class RowShares {
 public:
  RowShares(index_t rows, std::size_t entries, int threads) : bounds_{0} {
    constexpr std::size_t worthwhile = 4096;
    constexpr int most_scans = 16;  // beyond that the scans cost more than the shares save
    const int shares = entries < worthwhile ? 1 : std::min(threads, most_scans);
    for (int k = 1; k <= shares; ++k) {
      bounds_.push_back(static_cast<index_t>(static_cast<offset_t>(rows) * k / shares));
    }
  }

  /// Moves the bounds so that every share has about the same number of entries.
  void balance(const index_t* row_offsets, index_t rows) {
    const offset_t total = row_offsets[rows];
    const auto shares = static_cast<offset_t>(bounds_.size()) - 1;
    for (offset_t k = 1; k < shares; ++k) {
      const auto target = static_cast<index_t>(total * k / shares);
      bounds_[static_cast<std::size_t>(k)] = static_cast<index_t>(
          std::lower_bound(row_offsets, row_offsets + rows, target) - row_offsets);
    }
  }

  /// Calls body(begin, end) once per share, one thread each.
  template <class Body>
  void parallel(const Body& body) const {
    const int shares = static_cast<int>(bounds_.size()) - 1;
    parallel_for(
        shares,
        [&](int k) {
          const auto share = static_cast<std::size_t>(k);
          body(bounds_[share], bounds_[share + 1]);
        },
        shares);
  }

 private:
  std::vector<index_t> bounds_;
};

/// Calls body(row, k, mirrored) for the entries of one piece whose row is in [begin, end), those
/// that symmetry adds included.
template <class T, class Body>
void for_owned_entries(const EntryPiece<T>& piece, Symmetry symmetry, index_t begin, index_t end,
                       const Body& body) {
  const index_t* const rows = piece.rows.get();
  const index_t* const cols = piece.cols.get();
  if (symmetry == Symmetry::general) {
    for (std::size_t k = 0; k < piece.count; ++k) {
      if (rows[k] >= begin && rows[k] < end) {
        body(rows[k], k, false);
      }
    }
    return;
  }
  for (std::size_t k = 0; k < piece.count; ++k) {
    if (rows[k] >= begin && rows[k] < end) {
      body(rows[k], k, false);
    }
    if (cols[k] != rows[k] && cols[k] >= begin && cols[k] < end) {
      body(cols[k], k, true);
    }
  }
}

/// Row lengths turned into offsets. Returns false when there are more than 2^31 - 1 entries.
bool accumulate(index_t rows, index_t* row_offsets) {
  offset_t total = 0;
  for (index_t i = 0; i < rows; ++i) {
    total += row_offsets[i + 1];
    if (total > 2147483647) {
      return false;
    }
    row_offsets[i + 1] = static_cast<index_t>(total);
  }
  return true;
}

/// The scatter leaves in offset i the end of row i, which is the start of row i + 1.
void restore_offsets(index_t rows, index_t* row_offsets) {
  std::copy_backward(row_offsets, row_offsets + rows, row_offsets + rows + 1);
  row_offsets[0] = 0;
}

/// Moves one property of every entry to its place. `get(piece, k, mirrored)` reads it and
/// `release(piece)` frees it from the piece. Offset i is the next free place of row i.
template <class T, class Out, class Get, class Release>
void scatter(std::vector<EntryPiece<T>>& pieces, Symmetry symmetry, const RowShares& shares,
             index_t* next, Out* out, const Get& get, const Release& release) {
  shares.parallel([&](index_t begin, index_t end) {
    for (const EntryPiece<T>& piece : pieces) {
      for_owned_entries(piece, symmetry, begin, end,
                        [&](index_t row, std::size_t k, bool mirrored) {
                          out[next[row]++] = get(piece, k, mirrored);
                        });
    }
  });
  for (EntryPiece<T>& piece : pieces) {
    release(piece);
  }
}

template <class T>
void scatter_values(std::vector<EntryPiece<T>>& pieces, Symmetry symmetry, const RowShares& shares,
                    index_t* next, T* values) {
  const T mirror_sign = symmetry == Symmetry::skew_symmetric ? T{-1} : T{1};
  scatter(
      pieces, symmetry, shares, next, values,
      [=](const EntryPiece<T>& piece, std::size_t k, bool mirrored) {
        const T value = piece.values ? piece.values[k] : T{1};
        return mirrored ? mirror_sign * value : value;
      },
      [](EntryPiece<T>& piece) { piece.values.reset(); });
}

template <class T>
void scatter_columns(std::vector<EntryPiece<T>>& pieces, Symmetry symmetry, const RowShares& shares,
                     index_t* next, index_t* columns) {
  scatter(
      pieces, symmetry, shares, next, columns,
      [](const EntryPiece<T>& piece, std::size_t k, bool mirrored) {
        return mirrored ? piece.rows[k] : piece.cols[k];
      },
      [](EntryPiece<T>& piece) { piece = {}; });
}

template <class View>
View shrunk(const View& view, std::size_t n) {
  View copy(Kokkos::view_alloc(view.label(), Kokkos::WithoutInitializing), n);
  std::copy_n(view.data(), n, copy.data());
  return copy;
}

}  // namespace

template <class T>
CsrMatrix<T> csr_from_pieces(const std::string& name, const MatrixMarketHeader& header,
                             std::vector<EntryPiece<T>> pieces, const ReadOptions& options) {
  const index_t rows = header.rows;
  const Symmetry symmetry = header.symmetry;
  std::size_t entries = 0;
  for (const EntryPiece<T>& piece : pieces) {
    entries += piece.count;
  }
  RowShares shares(rows, entries, options.thread_count());

  const double held = static_cast<double>(entries) * EntryPiece<T>::entry_bytes;
  const double least = (rows + 1.0) * sizeof(index_t) + static_cast<double>(entries) * sizeof(T);
  check_memory(name, held, least, options);
  const auto offsets = uninitialized<index_t>(name, static_cast<std::size_t>(rows) + 1);
  index_t* const row_offsets = offsets.data();
  std::fill_n(row_offsets, offsets.extent(0), 0);
  shares.parallel([&](index_t begin, index_t end) {
    for (const EntryPiece<T>& piece : pieces) {
      for_owned_entries(piece, symmetry, begin, end,
                        [&](index_t row, std::size_t, bool) { ++row_offsets[row + 1]; });
    }
  });
  if (!accumulate(rows, row_offsets)) {
    throw IoError(name, 0, "more than 2^31 - 1 entries once symmetry is expanded");
  }
  shares.balance(row_offsets, rows);

  const auto nonzeros = static_cast<std::size_t>(row_offsets[rows]);
  // The values of the pieces are freed before there are columns.
  const auto n = static_cast<double>(nonzeros), m = static_cast<double>(entries);
  const double columns_more = std::max(0.0, n * sizeof(index_t) - m * sizeof(T));
  check_memory(name, held + (rows + 1.0) * sizeof(index_t), n * sizeof(T) + columns_more, options);
  auto values = uninitialized<T>(name, nonzeros);
  scatter_values(pieces, symmetry, shares, row_offsets, values.data());
  restore_offsets(rows, row_offsets);
  auto columns = uninitialized<index_t>(name, nonzeros);
  scatter_columns(pieces, symmetry, shares, row_offsets, columns.data());
  restore_offsets(rows, row_offsets);

  if (sort_rows(rows, row_offsets, columns.data(), values.data(), options.thread_count())) {
    const auto left =
        static_cast<std::size_t>(sum_duplicates(rows, row_offsets, columns.data(), values.data()));
    columns = shrunk(columns, left);
    values = shrunk(values, left);
    check_finite(name, values);
  }
  return {rows, header.cols, 1, offsets, columns, values};
}

template CsrMatrix<float> csr_from_pieces(const std::string&, const MatrixMarketHeader&,
                                          std::vector<EntryPiece<float>>, const ReadOptions&);
template CsrMatrix<double> csr_from_pieces(const std::string&, const MatrixMarketHeader&,
                                           std::vector<EntryPiece<double>>, const ReadOptions&);

}  // namespace cnc::detail
