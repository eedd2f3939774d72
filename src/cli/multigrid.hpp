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

/// Coordinates of the nodes where they are known: from a file, or of the built-in problem. options.block_size is then the unknowns of a
/// node. None: empty.
inline Vector<double> node_coordinates(AmgOptions& options, const std::string& source,
                                       offset_t rows, const NodesOfUnknowns& nodes) {
  if (!nodes.coordinates.empty()) {
    const auto coordinates = vector_from_file<double>(
        nodes.coordinates, "list of coordinates", static_cast<index_t>(rows),
        "rows, and each node as many coordinates as unknowns");
    if (options.block_size == 0) options.block_size = nodes.block_size;
    if (options.block_size != 2 && options.block_size != 3)
      throw InvalidArgument(
          "--coordinates needs the unknowns of a node, 2 or 3: "
          "--precondition amg:block=3, say");
    return coordinates;
  }
  Vector<double> coordinates;
  if (!is_problem(source)) return coordinates;
  int unknowns = 1;
  for (const ProblemInfo& family : problem_families())
    if (source.rfind(family.name + ":", 0) == 0) unknowns = family.natural_block_size;
  if (options.block_size == 0 || options.block_size == unknowns)
    coordinates = problem_coordinates(source);
  if (coordinates.extent(0) > 0) options.block_size = unknowns;
  return coordinates;
}

/// Multigrid with the rigid motions of nodes whose coordinates are known.
template <class V, class Exec>
std::shared_ptr<Amg<V, Exec>> multigrid(AmgOptions options, const std::string& source,
                                        const CsrMatrix<V>& A, const NodesOfUnknowns& nodes) {
  using Space = typename Exec::memory_space;
  const Vector<double> coordinates = node_coordinates(options, source, A.rows, nodes);
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
