#pragma once

#include <cnc/bcsr_matrix.hpp>
#include <cnc/options.hpp>

#include <functional>
#include <memory>
#include <string>

namespace cnc::cli {

struct MatrixParts;  // of several ranks

/// The matrix a subcommand works on.
struct LoadedMatrix {
  std::string name;                          ///< as given on the command line
  CsrMatrix<double> A;                       ///< of what ranks have parts of, the size alone
  std::shared_ptr<const MatrixParts> parts;  ///< or null
  double seconds = 0;                        ///< reading or generating it
  bool generated = false;                    ///< a built-in problem, not a file
};

/// Bytes that a subcommand takes at least beside a matrix of so many rows and entries.
using FurtherBytes = std::function<double(index_t rows, offset_t entries)>;

/// Whether there is such a file; and what its header says, or the share of it that comes to this machine, is compared with the free
/// memory, as by load_matrix.
/// Errors   InvalidArgument naming the known problems; OutOfMemory.
void check_file(const std::string& source, const FurtherBytes& further_bytes, double share = 1);

/// Reads FILE or generates PROBLEM. What the header of a file says is compared with the free memory, together
/// with what the subcommand takes beside the matrix, before anything else is read.
/// Errors   IoError; InvalidArgument naming the known problems when the text is neither; OutOfMemory.
LoadedMatrix load_matrix(const std::string& source, const FurtherBytes& further_bytes);

/// Errors   InvalidArgument (a matrix that is not square and a method named that needs one).
void require_square(const std::string& name, index_t rows, index_t cols, Method method);

/// "12 x 12, 54 nonzeros, 4.5 per row"
std::string matrix_text(const CsrMatrix<double>& A);

/// "read in 1.2 s" or "generated in 30 ms"
std::string origin_text(const LoadedMatrix& matrix);

/// The first line of a report: its name and the two above.
std::string matrix_line(const LoadedMatrix& matrix);

}  // namespace cnc::cli
