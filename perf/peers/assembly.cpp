#include "peers/assembly.hpp"

#include <iterator>

namespace cnc::perf {

std::vector<AssemblyPeer> assembly_peers([[maybe_unused]] const Pieces& pieces) {
  std::vector<AssemblyPeer> peers;
  [[maybe_unused]] const auto add = [&](std::vector<AssemblyPeer> more) {
    peers.insert(peers.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  };
#ifdef CNC_PERF_EIGEN
  add(eigen::assembly(pieces));
#endif
#ifdef CNC_PERF_PETSC
  add(petsc::assembly(pieces));
#endif
  return peers;
}

}  // namespace cnc::perf
