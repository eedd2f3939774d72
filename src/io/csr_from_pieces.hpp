#pragma once

#include <cnc/io.hpp>

#include "io/entry_parser.hpp"
#include "io/read_options.hpp"

#include <string>
#include <vector>

namespace cnc::detail {

/// CSR from the pieces of a file: symmetry is expanded, columns are sorted, and entries at the same
/// place are summed in the file's order, so the result does not depend on windows or threads.
///
/// A counting sort by rows, first of the values, then of the columns, each freed from the pieces as
/// it goes: at most 24 bytes per entry are held at once for a result of 12 (double), 16 for 8
/// (float).
///
/// Errors   IoError (more than 2^31 - 1 entries), OutOfMemory.
template <class T>
CsrMatrix<T> csr_from_pieces(const std::string& name, const MatrixMarketHeader& header,
                             std::vector<EntryPiece<T>> pieces, const ReadOptions& options);

/// Sorts the columns of every row, keeping entries of one column in their order. Whether any row
/// has a column twice.
template <class T>
bool sort_rows(index_t rows, const index_t* row_offsets, index_t* columns, T* values, int threads);

/// Sums neighbours of equal column within each row of a sorted matrix, moving everything down in
/// place. Returns the number of entries left.
template <class T>
index_t sum_duplicates(index_t rows, index_t* row_offsets, index_t* columns, T* values);

}  // namespace cnc::detail
