#include "harness/matrices.hpp"

#include <cnc/error.hpp>
#include <cnc/io.hpp>
#include <cnc/problems.hpp>

#include <algorithm>
#include <filesystem>
#include <map>

namespace cnc::perf {
namespace {

using Sources = std::vector<std::string>;

const std::map<std::string, Sources>& matrix_sets() {
  static const std::map<std::string, Sources> sets = {
      {"quick", {"poisson2d:60x60", "elasticity3d:6", "wathen:20x20"}},
      // Beyond the second-level cache of a core, 30 to 200 MB as CSR in double.
      {"record",
       {"poisson2d:1000x1000", "anisotropic2d:1000:0.01", "poisson3d:100", "stencil27:60",
        "elasticity2d:400", "elasticity3d:40", "wathen:300x300", "trefethen:150000"}},
      // For methods that take any matrix, from within the caches of a core to beyond them; one is symmetric.
      {"general",
       {"convection3d:32:1", "convection3d:64:1", "convection3d:100:1", "poisson2d:316"}},
      // Beyond the last-level cache of the largest servers, 0.5 to 1.1 GB as CSR in double.
      {"large", {"poisson3d:200", "stencil27:120", "elasticity3d:72"}},
  };
  return sets;
}

bool is_matrix_file(const std::string& name) {
  const auto ends_with = [&](const std::string& end) {
    return name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  return ends_with(".mtx") || ends_with(".mtx.gz");
}

/// Matrices of the directory that are large enough, in alphabetical order.
Sources files_in(const std::string& directory, double min_nonzeros) {
  Sources files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (!is_matrix_file(entry.path().filename().string())) continue;
    const MatrixMarketHeader header = read_matrix_market_header(entry.path().string());
    const double factor = header.symmetry == MatrixMarketHeader::Symmetry::general ? 1 : 2;
    if (header.layout == MatrixMarketHeader::Layout::coordinate &&
        factor * static_cast<double>(header.entries) >= min_nonzeros)
      files.push_back(entry.path().string());
  }
  if (error) throw IoError(directory, 0, error.message());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<std::string> matrix_set_names() {
  std::vector<std::string> names;
  for (const auto& set : matrix_sets()) names.push_back(set.first);
  return names;
}

std::vector<std::string> matrix_sources(const MatrixChoice& choice) {
  Sources result;
  const auto append = [&](const Sources& more) {
    result.insert(result.end(), more.begin(), more.end());
  };
  const bool nothing = choice.sources.empty() && choice.sets.empty() && choice.directory.empty();
  for (const std::string& name : nothing ? std::vector<std::string>{"record"} : choice.sets) {
    const auto found = matrix_sets().find(name);
    require(found != matrix_sets().end(), [&] { return "unknown matrix set '" + name + "'"; });
    append(found->second);
  }
  if (!choice.directory.empty()) append(files_in(choice.directory, choice.min_nonzeros));
  append(choice.sources);
  return result;
}

TestMatrix load_matrix(const std::string& source) {
  TestMatrix matrix;
  if (is_problem(source)) {
    matrix.name = source;
    matrix.A = generate_problem(source);
  } else {
    matrix.name = std::filesystem::path(source).filename().string();
    matrix.A = read_matrix<double>(source);
  }
  matrix.structure = analyze(matrix.A);
  return matrix;
}

FormatsToTime formats_to_time(const Structure& structure, int value_bytes, MemorySpace memory) {
  // Blocks that are half empty lose to scalar formats everywhere; leaving them out saves
  // gigabytes.
  constexpr double min_density = 0.6;
  FormatsToTime formats{choose_format(structure, value_bytes, memory).format,
                        comparable_formats(structure, min_density)};
  if (std::find(formats.all.begin(), formats.all.end(), formats.automatic) == formats.all.end())
    formats.all.push_back(formats.automatic);
  return formats;
}

int peer_block_size(const Structure& structure) {
  int best = 1;
  for (const BlockOccupancy& occupancy : structure.occupancy)
    if (occupancy.block_size <= 4 && occupancy.density >= 0.8 &&
        structure.rows % occupancy.block_size == 0 && structure.cols % occupancy.block_size == 0)
      best = std::max(best, occupancy.block_size);
  return best;
}

}  // namespace cnc::perf
