#pragma once

#include <cnc/bcsr_matrix.hpp>

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace cnc {

/// What the header of a Matrix Market file says.
struct MatrixMarketHeader {
  /// Entry by entry, or dense by columns.
  enum class Layout { coordinate, array };
  /// What an entry is.
  enum class Field { real, integer, pattern };
  /// Whether the upper half is left out, and what it is.
  enum class Symmetry { general, symmetric, skew_symmetric };
  Layout layout = Layout::coordinate;     ///< first word
  Field field = Field::real;              ///< second word
  Symmetry symmetry = Symmetry::general;  ///< third word
  index_t rows = 0;
  index_t cols = 0;
  offset_t entries = 0;  ///< entry lines in the file, before symmetry is expanded
};

/// Reads a matrix: Matrix Market, plain or gzip, or the binary cache, told apart by the first bytes
/// and not by the name. Symmetric and skew-symmetric files hold one triangle and are expanded,
/// pattern entries become 1, entries at the same place are summed in the file's order, array files
/// keep their zeros out. Parsing uses all threads; the result does not depend on how many there
/// are.
///
/// Errors   IoError (file, line, reason) for anything that is not a whole, well-formed, finite
///          matrix; OutOfMemory when entries and result cannot be held, asked as the entries come.
/// Cost     one pass over the file; at most 2 times the memory of the result (without duplicates)
///          and a window of 16 to 64 MiB of text.
/// Source   Boisvert, Pozo & Remington, "The Matrix Market exchange formats: initial design",
///          NISTIR 5935, 1996. Here comments and blank lines may stand anywhere, and the triangle
///          may be the upper one.
template <class T>
CsrMatrix<T> read_matrix(const std::string& path);

/// The same from Matrix Market text in memory; `name` stands in for the file name in errors.
template <class T>
CsrMatrix<T> parse_matrix_market(std::string_view text, const std::string& name);

/// Reads the banner and size line only.
/// Errors   IoError.
MatrixMarketHeader read_matrix_market_header(const std::string& path);

/// Writes coordinate real general, or symmetric (lower triangle only; the caller vouches for
/// symmetry). Values keep every bit: the shortest text that reads back the same. NaN and Inf are
/// written as such, and no reader here accepts them. A name that ends in ".gz" compresses.
/// The file appears whole or not at all, as with write_file_atomically.
///
/// Errors   IoError (cannot create, write or rename: file and the system's reason); InvalidArgument
///          (block size not 1, symmetric but not square).
template <class T>
void write_matrix_market(const std::string& path, const CsrMatrix<T>& A, bool symmetric = false);

/// Reads a vector: Matrix Market array n x 1 or coordinate n x 1 (.gz too), or the binary cache.
/// Errors   IoError, also when the file holds more than one column.
template <class T>
Vector<T> read_vector(const std::string& path);

/// Writes a Matrix Market array of one column, whole or not at all. ".gz" compresses.
/// Errors   IoError.
template <class T>
void write_vector(const std::string& path, const Vector<const T>& x);

/// Binary cache of a CSR matrix or a vector (".cnc"): versioned, checksummed (XXH3), loaded at the
/// speed of memory. It is for the machine that wrote it: one of the other byte order refuses it.
/// Values may be read in the other precision. Whole or not at all.
/// Errors   IoError; InvalidArgument (block size not 1).
template <class T>
void write_cache(const std::string& path, const CsrMatrix<T>& A);
/// The same for a vector.
template <class T>
void write_cache(const std::string& path, const Vector<const T>& x);

/// The file that writing to `path` means: where a chain of symbolic links ends, whether a file is there or
/// not.
/// Errors   IoError (links in a circle, a link that cannot be read).
std::string behind_links(const std::string& path);

/// Calls `write` with an open stream on a new file, flushes it to disk and lets it take the place
/// of `path`; on any failure or exception `path` is untouched. The new file has no name until it is
/// complete, so nothing is left behind even when the program is ended; where the system cannot do
/// that (old or network file systems), it is called PATH.cnc-XXXXXXXX.tmp and removed on failure.
/// An existing file passes its permissions on, links stay links (dangling ones too: the file that they
/// name is made), and a device or a pipe is written
/// to as it is.
/// Errors   IoError with the system's reason.
void write_file_atomically(const std::string& path,
                           const std::function<void(std::ostream&)>& write);

}  // namespace cnc
