#include "matrix_source.hpp"

#include "clock.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <cnc/io.hpp>
#include <cnc/problems.hpp>

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

}  // namespace

LoadedMatrix load_matrix(const std::string& source) {
  LoadedMatrix result;
  result.name = source;
  result.generated = is_problem(source);
  const double start = now();
  if (result.generated) {
    result.A = generate_problem(source);
  } else {
    std::error_code ignored;
    if (source.find(':') != std::string::npos && !std::filesystem::exists(source, ignored))
      complain_unknown_problem(source);
    result.A = read_matrix<double>(source);
  }
  result.seconds = now() - start;
  return result;
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

}  // namespace cnc::cli
