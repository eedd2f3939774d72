#include "matrix_source.hpp"

#include "terminal.hpp"
#include "text.hpp"
#include "timing.hpp"

#include <cnc/io.hpp>
#include <cnc/problems.hpp>

#include <algorithm>
#include <filesystem>

namespace cnc::cli {
namespace {

/// "poison3d:20" is a misspelt problem rather than a missing file.
[[noreturn]] void complain_unknown_problem(const std::string& source) {
  std::string known;
  for (const ProblemInfo& family : problem_families())
    known += (known.empty() ? "" : ", ") + family.syntax;
  throw InvalidArgument(source + ": no such file, and no built-in problem (known: " + known + ")");
}

/// A Matrix Market file may be small and its matrix large.
void require_memory_for(const std::string& path, const FurtherBytes& further_bytes, double share) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;  // a pipe is read once
  MatrixMarketHeader header;
  try {
    header = read_matrix_market_header(path);
  } catch (const IoError&) {
    return;  // a binary cache, or read_matrix says what is wrong
  }
  // Headers may promise more entries than there are: text has two bytes for one, gzip packs at most 1032 to 1.
  const double most = static_cast<double>(std::filesystem::file_size(path, error)) * 1032 / 2;
  const double entries = std::min(static_cast<double>(header.entries), most);
  const double matrix = sizeof(index_t) * (header.rows + 1.0) +
                        entries * static_cast<double>(sizeof(index_t) + sizeof(double));
  const double further =
      further_bytes ? further_bytes(header.rows, static_cast<offset_t>(entries)) : 0;
  detail::require_memory(path, share * (matrix + further), MemorySpace::host);
}

}  // namespace

void check_file(const std::string& source, const FurtherBytes& further_bytes, double share) {
  std::error_code ignored;
  if (!std::filesystem::exists(source, ignored)) {
    if (source.find(':') != std::string::npos) complain_unknown_problem(source);
    for (const ProblemInfo& family : problem_families())
      if (source == family.name)
        throw InvalidArgument(source + ": no such file; the built-in problem is written " +
                              family.syntax);
  }
  require_memory_for(source, further_bytes, share);
}

LoadedMatrix load_matrix(const std::string& source, const FurtherBytes& further_bytes) {
  LoadedMatrix result;
  result.name = source;
  result.generated = is_problem(source);
  const double start = now();
  if (result.generated) {
    result.A = generate_problem(source);
  } else {
    check_file(source, further_bytes);
    result.A = read_matrix<double>(source);
  }
  result.seconds = now() - start;
  return result;
}

void require_square(const std::string& name, index_t rows, index_t cols, Method method) {
  if (rows != cols && method != Method::automatic && !method_facts(method).normal_equations)
    throw InvalidArgument(name + ": solve needs a square matrix, this one is " +
                          std::to_string(rows) + " x " + std::to_string(cols) +
                          "; --solver lsqr finds the least squares");
}

std::string matrix_text(const CsrMatrix<double>& A) {
  std::string text = count_text(A.rows);
  text += glyph(" × ", " x ");
  text += count_text(A.cols) + ", " + count_text(A.nonzeros) + " nonzero" + plural(A.nonzeros);
  if (A.rows > 0) text += print(", %.3g per row", static_cast<double>(A.nonzeros) / A.rows);
  return text;
}

std::string origin_text(const LoadedMatrix& matrix) {
  return (matrix.generated ? "generated in " : "read in ") + seconds_text(matrix.seconds);
}

std::string matrix_line(const LoadedMatrix& matrix) {
  return labelled("Matrix", styled(Style::bold, matrix.name) + "  " + matrix_text(matrix.A) + ", " +
                                origin_text(matrix));
}

}  // namespace cnc::cli
