#include "nl/pattern.hpp"

#include "nl/failure.hpp"

#include <numeric>
#include <string>

namespace cnc::nl {

Pattern::Pattern(index_t n, bool symmetric)
    : n_(n), symmetric_(symmetric), offsets_(static_cast<std::size_t>(n) + 1) {}

void Pattern::set_row_length(index_t row, std::uint32_t length) {
  offsets_[static_cast<std::size_t>(row) + 1] = length;
}

void Pattern::compile() {
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  if (offsets_.back() > 2147483647u)
    fail(NL_INVALID_VALUE_CNC, "the rows have more than 2^31 - 1 entries together");
  columns_.assign(offsets_.back(), free);
  values_.assign(offsets_.back(), 0.0);
}

std::uint64_t Pattern::add(index_t row, index_t column, double value) {
  if (symmetric_ && column > row) return nowhere;
  for (std::size_t k = offsets_[row]; k < offsets_[row + 1]; ++k) {
    if (columns_[k] != column && columns_[k] != free) continue;
    columns_[k] = column;
    values_[k] += value;
    return k;
  }
  fail(NL_INVALID_VALUE_CNC, "row " + std::to_string(row) + " has no room for column " +
                                 std::to_string(column) + ": nlSetRowLength gave it " +
                                 std::to_string(offsets_[row + 1] - offsets_[row]));
}

void Pattern::add_at(index_t row, index_t column, double value, std::uint64_t index) {
  if (index == nowhere && symmetric_ && column > row) return;
  if (index < offsets_[row] || index >= offsets_[row + 1] || columns_[index] != column)
    fail(NL_INVALID_VALUE_CNC, "index " + std::to_string(index) + " is not that of entry (" +
                                   std::to_string(row) + ", " + std::to_string(column) + ")");
  values_[index] += value;
}

void Pattern::set_at(index_t row, index_t column, double value, std::uint32_t offset) {
  const std::size_t k = offsets_[row] + offset;
  if (k >= offsets_[row + 1])
    fail(NL_INVALID_VALUE_CNC, "row " + std::to_string(row) + " has no offset " +
                                   std::to_string(offset) + ": nlSetRowLength gave it " +
                                   std::to_string(offsets_[row + 1] - offsets_[row]));
  if (columns_[k] != free)
    fail(NL_INVALID_VALUE_CNC, "offset " + std::to_string(offset) + " of row " +
                                   std::to_string(row) + " is taken by column " +
                                   std::to_string(columns_[k]));
  columns_[k] = column;
  values_[k] = value;
}

}  // namespace cnc::nl
