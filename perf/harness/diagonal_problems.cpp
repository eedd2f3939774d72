#include "harness/diagonal_problems.hpp"

#include "harness/matrices.hpp"

#include <cnc/io.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>

namespace cnc::perf {
namespace {

/// |a(i, i)| over the sum of the others of an inner row. The others are all negative, so that the error of Jacobi's
/// iteration falls by this factor and hardly more.
constexpr double dominance = 1.1;

/// A number in [0.5, 1) that float holds exactly.
double hashed(std::uint64_t row, std::uint64_t diagonal) {
  std::uint64_t h = (8 * row + diagonal + 1) * 0x9e3779b97f4a7c15u;  // the generator SplitMix64
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  h ^= h >> 31;
  return 0.5 + static_cast<double>(h >> 41) * 0x1p-24;
}

/// What is known of a matrix of the collection.
struct Wanted {
  const char* name;
  double rows, nonzeros;
  bool symmetric;
  const char* generated;  ///< a built-in problem that can stand for it, or nothing
  const char* kin;        ///< a matrix of the same family, or nothing
};
constexpr Wanted collection[] = {
    {"minsurfo", 40806, 203622, true, "", "cvxbqp1"},
    {"obstclae", 40000, 197608, true, "poisson2d:200x200", ""},
    {"wathen100", 30401, 471601, true, "wathen:100x100", ""},
    {"ex1", 216, 4352, false, "", "ex3"},
    {"mcca", 180, 2659, false, "", "mcfe"},
    {"dw4096", 8192, 41746, false, "", "dw1024"},
};

/// How far a file is from what is wanted, by its first lines; infinite where it cannot stand for it.
double distance(const MatrixMarketHeader& header, const Wanted& wanted) {
  using Symmetry = MatrixMarketHeader::Symmetry;
  const bool symmetric = header.symmetry == Symmetry::symmetric;
  if (header.layout != MatrixMarketHeader::Layout::coordinate || header.rows != header.cols ||
      header.symmetry == Symmetry::skew_symmetric || symmetric != wanted.symmetric)
    return std::numeric_limits<double>::infinity();
  const double rows = header.rows;
  const auto entries = static_cast<double>(header.entries);
  const double nonzeros = symmetric ? 2 * entries - rows : entries;
  return std::abs(std::log(rows / wanted.rows)) + std::abs(std::log(nonzeros / wanted.nonzeros));
}

/// The file of the directory that is nearest; "" where none can stand for it.
std::string nearest_file(const std::vector<std::string>& files, const Wanted& wanted) {
  std::string nearest;
  double least = std::numeric_limits<double>::infinity();
  for (const std::string& file : files) {
    const double here = distance(read_matrix_market_header(file), wanted);
    if (!(here < least)) continue;
    least = here;
    nearest = file;
  }
  return nearest;
}

/// "dw1024" of "somewhere/dw1024.mtx.gz".
std::string stem_of(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  return name.substr(0, name.find(".mtx"));
}

/// The file of that name; "" where there is none.
std::string file_named(const std::vector<std::string>& files, const char* name) {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const std::string& file) { return stem_of(file) == name; });
  return found == files.end() ? "" : *found;
}

std::string source_for(const Wanted& wanted, const std::vector<std::string>& files) {
  for (const std::string& source : {file_named(files, wanted.name), std::string(wanted.generated),
                                    file_named(files, wanted.kin), nearest_file(files, wanted)})
    if (!source.empty()) return source;
  return "";
}

}  // namespace

DiagonalProblem artificial_problem(index_t n) {
  require(n >= least_artificial, "artificial_problem: too few rows for seven diagonals");
  const auto k = static_cast<index_t>(std::lround(std::cbrt(n)));
  const index_t offsets[] = {-k * k, -k, -1, 0, 1, k, k * k};
  const auto rows = static_cast<std::size_t>(n);
  Vector<index_t> row_offsets("offsets", rows + 1);
  Vector<index_t> columns("columns", 7 * rows);
  Vector<double> values("values", 7 * rows);
  index_t entries = 0;
  for (index_t i = 0; i < n; ++i) {
    double others = 0;
    for (unsigned d = 0; d < 7; ++d)
      if (offsets[d] != 0) others += hashed(static_cast<std::uint64_t>(i), d);
    for (unsigned d = 0; d < 7; ++d) {
      const index_t column = i + offsets[d];
      if (column < 0 || column >= n) continue;
      columns(entries) = column;
      values(entries++) = offsets[d] == 0
                              ? static_cast<double>(static_cast<float>(dominance * others))
                              : -hashed(static_cast<std::uint64_t>(i), d);
    }
    row_offsets(i + 1) = entries;
  }
  const auto used = std::make_pair(std::size_t{0}, static_cast<std::size_t>(entries));
  CsrMatrix<double> A(n, n, 1, row_offsets, Kokkos::subview(columns, used),
                      Kokkos::subview(values, used));
  A.checked = Checked::ascending;
  return {"n = " + std::to_string(n), A, 7};
}

DiagonalProblem load_problem(const std::string& source) {
  TestMatrix matrix = load_matrix(source);
  return {stem_of(matrix.name), matrix.A, matrix.structure.diagonals};
}

std::vector<DiagonalProblem> collection_problems(const std::string& directory) {
  MatrixChoice choice;
  choice.directory = directory;
  const std::vector<std::string> files = matrix_sources(choice);
  std::vector<DiagonalProblem> problems;
  for (const Wanted& wanted : collection) {
    const std::string source = source_for(wanted, files);
    if (source.empty()) continue;
    problems.push_back(load_problem(source));
    std::string& name = problems.back().name;
    if (name != wanted.name) name += std::string(" (for ") + wanted.name + ")";
  }
  return problems;
}

}  // namespace cnc::perf
