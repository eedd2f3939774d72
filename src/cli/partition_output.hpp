#pragma once

#include "matrix_source.hpp"
#include "solve_run.hpp"
#include "timing.hpp"

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

/// What so many processes take for an iteration.
struct RanksTiming {
  RowsOnRanks on_ranks;
  int threads = 1;  ///< of each
  double prepare_seconds = 0;
  Timing iteration;
};

/// One line about all of it.
std::string ranks_text(const RowsOnRanks& on);
nlohmann::json ranks_json(const RowsOnRanks& on);

void print_partition(std::ostream& out, const CutMatrix& cut);
void write_partition_json(std::ostream& out, const CutMatrix& cut);

/// Each beside the first of them.
void print_ranks(std::ostream& out, const std::vector<RanksTiming>& timings);
void write_ranks_json(std::ostream& out, const LoadedMatrix& matrix,
                      const std::vector<RanksTiming>& timings);

}  // namespace cnc::cli
