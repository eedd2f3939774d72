#pragma once

#include <cnc/formats.hpp>

#include <string>
#include <vector>

namespace cnc::perf {

/// Which matrices to take.
struct MatrixChoice {
  std::vector<std::string> sources;  ///< files or built-in problems, added to the sets
  std::vector<std::string> sets;     ///< "quick", "record", "general", "large"
  std::string directory;             ///< every .mtx and .mtx.gz in it
  double min_nonzeros = 0;           ///< smaller files of the directory are left out
};

struct TestMatrix {
  std::string name;  ///< of a file without its directory
  CsrMatrix<double> A;
  Structure structure;
};

/// Names of the sets, for --help.
std::vector<std::string> matrix_set_names();

/// Sources in the order in which they are measured. Without any choice: the set "record".
/// Errors   InvalidArgument (unknown set), IoError (directory).
std::vector<std::string> matrix_sources(const MatrixChoice& choice);

/// Reads or generates, and analyses.
/// Errors   as read_matrix and generate_problem.
TestMatrix load_matrix(const std::string& source);

/// Formats worth timing on it: comparable_formats and the one that "auto" picks for that value
/// size.
struct FormatsToTime {
  FormatSpec automatic;
  std::vector<FormatSpec> all;
};
FormatsToTime formats_to_time(const Structure& structure, int value_bytes,
                              MemorySpace memory = MemorySpace::host);

/// The block size for peers with block forms: the largest of 2, 3, 4 whose blocks are nearly full,
/// else 1.
int peer_block_size(const Structure& structure);

}  // namespace cnc::perf
