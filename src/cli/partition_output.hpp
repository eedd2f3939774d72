#pragma once

#include "matrix_source.hpp"
#include "solve_run.hpp"

#include <nlohmann/json_fwd.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace cnc::cli {

/// What one process has of a matrix on several.
struct PartOfRank {
  index_t rows = 0;
  offset_t entries = 0;
  offset_t halo_entries = 0;  ///< of them in columns of others
  index_t boundary_rows = 0;  ///< rows that have some
  index_t halo = 0;           ///< entries of x that it takes from others for a product
  int neighbours = 0;
};

/// A matrix that several processes have between them.
struct CutMatrix {
  LoadedMatrix matrix;
  RowsOnRanks on_ranks;
  std::vector<PartOfRank> parts;  ///< of all ranks
};

/// One line about all of it.
std::string ranks_text(const RowsOnRanks& on);
nlohmann::json ranks_json(const RowsOnRanks& on);

void print_partition(std::ostream& out, const CutMatrix& cut);
void write_partition_json(std::ostream& out, const CutMatrix& cut);

}  // namespace cnc::cli
