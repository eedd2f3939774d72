#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cnc::perf {

/// What is assembled: dense pieces, all of one shape, whose entries are a common matrix times a weight of their own.
/// The weights change from assembly to assembly, the places do not. A piece of block_size b names blocks of b rows and
/// columns, and its matrix has b times as many of both.
struct Pieces {
  int matrix_rows = 0, matrix_cols = 0;
  int block_size = 1;
  int rows = 0, cols = 0;      ///< of a piece, in blocks
  bool equations = false;      ///< each row of each piece is one of its own
  std::vector<int> row, col;   ///< [pieces][rows], [pieces][cols]: block rows and block columns
  std::vector<double> common;  ///< [rows b][cols b]
  std::vector<double> weight;  ///< [pieces]

  long count() const { return static_cast<long>(weight.size()); }
  long entries_each() const { return static_cast<long>(common.size()); }
  long entries() const { return count() * entries_each(); }
};

/// What tells whether assemblies agree.
struct Assembled {
  double nonzeros = 0;
  double sum = 0;  ///< of the values
};

/// Somebody's way to assemble.
struct AssemblyPeer {
  std::string name;
  std::function<void()> first;  ///< from nothing
  std::function<void()> again;  ///< other values on the pattern of the first
  std::function<Assembled()> result;
};

/// Peers that have a copy of nothing: pieces must outlive them.
std::vector<AssemblyPeer> assembly_peers(const Pieces& pieces);

namespace eigen {
std::vector<AssemblyPeer> assembly(const Pieces& pieces);
}
namespace petsc {
std::vector<AssemblyPeer> assembly(const Pieces& pieces);
}

}  // namespace cnc::perf
