#pragma once

#include <cnc/contract/peers.hpp>

#include <bit>
#include <cstdint>
#include <vector>

namespace cnc::detail {

/// How a thread that comes to a row finds out whether it is one of a list, and where: in most cases without reading memory
/// (PeerOperand::listed).
struct ListOfRows {
  index_t whole_first = 0,
          whole = 0;  ///< the longest stretch before the last that are none of them
  index_t last_row = -1;
  std::vector<ListedRows> listed;  ///< of the rows up to the last, 32 to an element

  /// Of rows that ascend.
  explicit ListOfRows(const std::vector<index_t>& rows) {
    for (const index_t row : rows) {
      const index_t next = last_row + 1;
      if (row - next > whole) {
        whole_first = next;
        whole = row - next;
      }
      last_row = row;
    }
    listed.resize(rows.empty() ? 0 : static_cast<std::size_t>(last_row) / 32 + 1);
    for (const index_t row : rows)
      listed[static_cast<std::size_t>(row) / 32].has |= std::uint32_t(1) << (row % 32);
    index_t before = 0;
    for (ListedRows& of_32 : listed) {
      of_32.before = before;
      before += std::popcount(of_32.has);
    }
  }
};

}  // namespace cnc::detail
