#include "geometry/edge_table.hpp"
#include "geometry/topology.hpp"

#include <cnc/error.hpp>

#include <algorithm>
#include <string>

namespace cnc::geometry {

namespace {

enum class Turn : char { unknown, no, yes };

Turn opposite(Turn turn) { return turn == Turn::yes ? Turn::no : Turn::yes; }

class Orientation {
 public:
  explicit Orientation(const Mesh& mesh)
      : table_(mesh), turn_(mesh.triangles.size(), Turn::unknown) {}

  std::vector<Turn> find() {
    for (index_t t = 0; t < table_.mesh.faces(); ++t) {
      if (table_.has(t) && of(t) == Turn::unknown) spread_from(t);
    }
    return std::move(turn_);
  }

 private:
  Turn& of(index_t triangle) { return turn_[static_cast<std::size_t>(triangle)]; }

  void spread_from(index_t start) {
    std::vector<index_t> part(1, start);
    of(start) = Turn::no;
    for (std::size_t k = 0; k < part.size(); ++k) {
      for (index_t half = 3 * part[k]; half < 3 * part[k] + 3; ++half) spread_over(half, part);
    }
    const auto turned =
        std::count_if(part.begin(), part.end(), [&](index_t t) { return of(t) == Turn::yes; });
    if (2 * static_cast<std::size_t>(turned) > part.size()) {
      for (const index_t t : part) of(t) = opposite(of(t));
    }
  }

  void spread_over(index_t half, std::vector<index_t>& part) {
    const index_t other = table_.across(half);
    if (other < 0) return;
    const bool agree = table_.tail(half) != table_.tail(other);
    const Turn needed = agree ? of(half / 3) : opposite(of(half / 3));
    if (of(other / 3) == Turn::unknown) {
      of(other / 3) = needed;
      part.push_back(other / 3);
    } else if (of(other / 3) != needed) {
      throw InvalidArgument(table_.mesh.name + ": not orientable: going round from triangle " +
                            std::to_string(half / 3 + 1) + " to its neighbour " +
                            std::to_string(other / 3 + 1) + " turns the surface over");
    }
  }

  EdgeTable table_;
  std::vector<Turn> turn_;
};

}  // namespace

index_t orient(Mesh& mesh) {
  const std::vector<Turn> turns = Orientation(mesh).find();
  index_t turned = 0;
  for (std::size_t t = 0; t < turns.size(); ++t) {
    if (turns[t] != Turn::yes) continue;
    std::swap(mesh.triangles[t][1], mesh.triangles[t][2]);
    ++turned;
  }
  return turned;
}

}  // namespace cnc::geometry
