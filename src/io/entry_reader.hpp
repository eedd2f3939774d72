#pragma once

#include <cnc/io.hpp>

#include "io/byte_source.hpp"
#include "io/entry_parser.hpp"
#include "io/read_options.hpp"

#include <string>
#include <vector>

namespace cnc::detail {

/// A whole Matrix Market file, parsed: the header and the entries in pieces, with exactly as many
/// entries as the header says, before symmetry is expanded. Zeros of array files are left out.
template <class T>
struct MatrixMarketEntries {
  MatrixMarketHeader header;
  std::vector<EntryPiece<T>> pieces;
};

/// `check_header(header)` is asked before any entry is read.
/// Errors   IoError with the first fault in the file's order, whatever the number of threads.
template <class T>
MatrixMarketEntries<T> read_entries(ByteSource& source, const std::string& name,
                                    const ReadOptions& options,
                                    void (*check_header)(const MatrixMarketHeader&,
                                                         const std::string& name) = nullptr);

/// Matrix Market text to CSR.
template <class T>
CsrMatrix<T> read_matrix_market(ByteSource& source, const std::string& name,
                                const ReadOptions& options);

/// Matrix Market text of one column to a vector.
template <class T>
Vector<T> read_vector_market(ByteSource& source, const std::string& name,
                             const ReadOptions& options);

/// Any supported file: gzip is unpacked, then the first bytes tell Matrix Market from the cache.
template <class T>
CsrMatrix<T> read_matrix_from(std::unique_ptr<ByteSource> source, const std::string& name,
                              const ReadOptions& options);
template <class T>
Vector<T> read_vector_from(std::unique_ptr<ByteSource> source, const std::string& name,
                           const ReadOptions& options);

}  // namespace cnc::detail
