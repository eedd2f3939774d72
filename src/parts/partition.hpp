#pragma once

#include "parts/host_array.hpp"
#include "parts/row_pattern.hpp"

#include <vector>

namespace cnc::detail {

/// Row distances of a grid's neighbours in its directions, ascending from 1; empty: it does not look like a grid.
std::vector<index_t> grid_strides(const RowPattern& A);

/// The part of each row, of parts of equal size that gather little from each other. By recursive bisection: a grid, told by the few
/// distances between neighbours, across its longest side; any other graph between levels of a breadth-first search from one
/// of its ends. Cost O(entries) for a grid, O(entries log parts) for others, on the library's threads.
HostArray<index_t> partition(const RowPattern& A, index_t parts);

}  // namespace cnc::detail
