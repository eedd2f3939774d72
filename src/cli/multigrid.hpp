#pragma once

#include "vector_file.hpp"

#include <cnc/amg.hpp>
#include <cnc/copy.hpp>
#include <cnc/problems.hpp>

#include <nlohmann/json_fwd.hpp>

#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cnc::cli {

/// What is known of the nodes that unknowns belong to.
struct NodesOfUnknowns {
  std::string coordinates;  ///< a file, or empty
  int block_size = 0;       ///< of a layout that was asked for; 0: of none
  bool reordered = false;   ///< rows are not in the order of the coordinates
};

/// Multigrid with the rigid motions of nodes whose coordinates are known: from a file, or of the built-in problem.
template <class V, class Exec>
std::shared_ptr<Amg<V, Exec>> multigrid(AmgOptions options, const std::string& source,
                                        const CsrMatrix<V>& A, const NodesOfUnknowns& nodes) {
  using Space = typename Exec::memory_space;
  Vector<double> coordinates;
  if (!nodes.coordinates.empty()) {
    coordinates = vector_from_file<double>(nodes.coordinates, "list of coordinates", A.rows,
                                           "rows, and each node as many coordinates as unknowns");
    if (options.block_size == 0) options.block_size = nodes.block_size;
    if (options.block_size != 2 && options.block_size != 3)
      throw InvalidArgument(
          "--coordinates needs the unknowns of a node, 2 or 3: "
          "--precondition amg:block=3, say");
  } else if (is_problem(source)) {
    int unknowns = 1;
    for (const ProblemInfo& family : problem_families())
      if (source.rfind(family.name + ":", 0) == 0) unknowns = family.natural_block_size;
    if (options.block_size == 0 || options.block_size == unknowns)
      coordinates = problem_coordinates(source);
    if (coordinates.extent(0) > 0) options.block_size = unknowns;
  }
  const auto amg = std::make_shared<Amg<V, Exec>>(options);
  if (coordinates.extent(0) == 0 || nodes.reordered) return amg;
  std::vector<Vector<const V, Space>> modes;
  for (const Vector<V>& mode : rigid_body_modes<V>(coordinates, options.block_size))
    modes.push_back(copy_to<Space>(mode));
  amg->set_near_null_space(std::move(modes));
  return amg;
}

/// The levels of multigrid, a line each, its smoother and the seconds of its set-up.
void print_hierarchy(std::ostream& out, const AmgHierarchy& h);
/// The same.
nlohmann::json hierarchy_json(const AmgHierarchy& h);

}  // namespace cnc::cli
