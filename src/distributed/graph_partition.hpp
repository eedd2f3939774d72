#pragma once

#include <cnc/contract/types.hpp>

#include <vector>

namespace cnc::detail {

/// Errors   UnsupportedOperation (the library was built without METIS).
void require_metis();

/// A part, 0 to parts - 1, for every row of a square matrix in CSR, whose columns are within it: those of a group of `block_size`
/// rows have the same. By METIS, k-way, on the graph of A + A^T between groups; a group weighs as many entries as it stores, and an edge
/// as many as it stands for. Empty where there is nothing to win: one part, fewer than 16 groups for each, or none that are coupled.
///
/// Errors   InvalidArgument (more entries between groups than METIS can count), UnsupportedOperation (built without METIS),
///          OutOfMemory.
/// Cost     O(entries) beside METIS; the graph takes two numbers for each coupling of groups.
std::vector<int> partition_graph(const index_t* row_offsets, const index_t* columns, index_t rows,
                                 int block_size, int parts);

}  // namespace cnc::detail
