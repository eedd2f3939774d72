#include <assemble/system_chunk.hpp>

#include <bit>
#include <cmath>
#include <limits>

namespace cnc {
namespace {

constexpr offset_t longest_side = offset_t(1)
                                  << 15;  ///< of a block: its entries are counted in 32 bits

std::string range_text(index_t limit) {
  return limit == 0 ? "there are none" : "0 to " + std::to_string(limit - 1);
}

}  // namespace

template <class T>
void SystemChunk<T>::State::fail(const char* call, const std::string& reason) const {
  std::string text =
      std::string("SystemBuilder: ") + call + ": " + reason + " (chunk " + std::to_string(number);
  if (in_row)
    text += row() < 0 ? ", in its appended row " + std::to_string(-1 - row())
                      : ", in row " + std::to_string(row());
  throw InvalidArgument(text + ")");
}

template <class T>
void SystemChunk<T>::State::require_outside_row(const char* call) const {
  if (!open) fail(call, "no assembly has begun");
  if (in_row) fail(call, "a row has begun and was not ended");
}

template <class T>
void SystemChunk<T>::State::require_in_row(const char* call) const {
  if (!open) fail(call, "no assembly has begun");
  if (!in_row) fail(call, "no row has begun");
}

template <class T>
void SystemChunk<T>::State::require_row(const char* call, index_t i) const {
  const index_t limit = rules.rows();
  if (i < 0 || i >= limit)
    fail(call, "row " + std::to_string(i) + " is out of range (" + range_text(limit) + ")");
}

template <class T>
void SystemChunk<T>::State::require_variable(const char* call, index_t variable) const {
  if (variable < 0 || variable >= rules.variables)
    fail(call, "variable " + std::to_string(variable) + " is out of range (" +
                   range_text(rules.variables) + ")");
}

template <class T>
void SystemChunk<T>::State::require_right_hand_side(const char* call, int k) const {
  const int limit = rules.options.right_hand_sides;
  if (k < 0 || k >= limit)
    fail(call,
         "right-hand side " + std::to_string(k) + " is out of range (" + range_text(limit) + ")");
}

template <class T>
void SystemChunk<T>::State::begin(bool again) {
  stream.begin(again);
  open = true;
  in_row = false;
  appended = 0;
  given_values.resize(static_cast<std::size_t>(rules.options.right_hand_sides));
}

template <class T>
void SystemChunk<T>::State::close() {
  open = in_row = false;
  stream.take(detail::Takes::nothing);
}

template <class T>
void SystemChunk<T>::State::enter_row(index_t encoded) {
  in_row = true;
  stream.cursor.row = encoded;
  stream.take(detail::Takes::coefficients);
  row_begin = stream.position();
  row_scale = 1;
  given = 0;
}

template <class T>
void SystemChunk<T>::State::leave_row() {
  if (row() < 0) ++appended;
  in_row = false;
  stream.take(detail::Takes::entries);
}

/// What the row is multiplied by.
template <class T>
T SystemChunk<T>::State::row_factor() const {
  if (!rules.options.normalize_rows) return row_scale;
  // Squares in double, of a multiple where they would not fit.
  double largest = 0, sum = 0;
  const auto for_each_free = [&](const auto& visit) {
    stream.for_each_piece(row_begin, stream.position(),
                          [&](const index_t*, const index_t* columns, const T* values, offset_t n) {
                            for (offset_t i = 0; i < n; ++i)
                              if (!rules.locks.is_locked(columns[i]))
                                visit(static_cast<double>(values[i]));
                          });
  };
  for_each_free([&](double value) {
    sum += value * value;
    largest = std::max(largest, std::abs(value));
  });
  double norm = std::sqrt(sum);
  if (largest > 0 && std::isfinite(largest) && !(sum > 1e-280 && sum < 1e280)) {
    sum = 0;
    for_each_free([&](double value) { sum += value / largest * (value / largest); });
    norm = largest * std::sqrt(sum);
  }
  return norm == 0 ? row_scale : static_cast<T>(static_cast<double>(row_scale) / norm);
}

template <class T>
void SystemChunk<T>::add_other(index_t row, index_t column, T value) {
  State& s = *state_;
  s.require_outside_row("add");
  s.require_row("add", row);
  s.require_variable("add", column);
  s.stream.reserve(1);
  s.stream.push(row, column, value);
}

template <class T>
void SystemChunk<T>::add_block(index_t block_row, index_t block_column, int block_size,
                               const T* values) {
  State& s = *state_;
  s.require_outside_row("add_block");
  if (block_size < 1) s.fail("add_block", "the block size must be at least 1");
  const auto last = [&](index_t block) {
    return (static_cast<offset_t>(block) + 1) * block_size - 1;
  };
  if (block_row < 0 || last(block_row) >= s.rules.rows() || block_column < 0 ||
      last(block_column) >= s.rules.variables) [[unlikely]]
    s.fail("add_block", "block (" + std::to_string(block_row) + ", " +
                            std::to_string(block_column) + ") of size " +
                            std::to_string(block_size) + " is not within " +
                            std::to_string(s.rules.rows()) + " rows and " +
                            std::to_string(s.rules.variables) + " variables");
  const index_t first_row = block_row * block_size, first_column = block_column * block_size;
  const auto row_of = [=](index_t i) { return first_row + i; };
  const auto column_of = [=](index_t j) { return first_column + j; };
  const auto put = [&](index_t size) {
    return s.stream.put_block(size, size, row_of, column_of, values, true);
  };
  // Sizes that the compiler knows are unrolled.
  const bool is_there = block_size == 2   ? put(2)
                        : block_size == 3 ? put(3)
                        : block_size == 4 ? put(4)
                                          : put(block_size);
  if (is_there) return;
  s.stream.reserve(static_cast<offset_t>(block_size) * block_size);
  for (index_t i = 0; i < block_size; ++i)
    for (index_t j = 0; j < block_size; ++j) s.stream.push(row_of(i), column_of(j), *values++);
}

template <class T>
void SystemChunk<T>::add_block(std::span<const index_t> rows, std::span<const index_t> columns,
                               const T* values) {
  State& s = *state_;
  s.require_outside_row("add_block");
  const auto height = static_cast<offset_t>(rows.size()),
             width = static_cast<offset_t>(columns.size());
  require(height <= longest_side && width <= longest_side,
          "SystemBuilder: add_block: the block has more than 32768 rows or columns");
  const auto row_of = [rows](index_t i) { return rows[static_cast<std::size_t>(i)]; };
  const auto column_of = [columns](index_t j) { return columns[static_cast<std::size_t>(j)]; };
  const auto put = [&](bool valid) {
    return s.stream.put_block(static_cast<index_t>(height), static_cast<index_t>(width), row_of,
                              column_of, values, valid);
  };
  if (put(false)) return;
  for (const index_t row : rows) s.require_row("add_block", row);
  for (const index_t column : columns) s.require_variable("add_block", column);
  if (put(true)) return;
  s.stream.reserve(height * width);
  for (const index_t row : rows)
    for (const index_t column : columns) s.stream.push(row, column, *values++);
}

template <class T>
void SystemChunk<T>::add_right_hand_side(index_t row, T value, int k) {
  State& s = *state_;
  s.require_outside_row("add_right_hand_side");
  s.require_row("add_right_hand_side", row);
  s.require_right_hand_side("add_right_hand_side", k);
  s.stream.reserve(1);
  s.stream.push(row, -1 - k, value);
}

template <class T>
void SystemChunk<T>::begin_row() {
  State& s = *state_;
  s.require_outside_row("begin_row");
  if (s.rules.options.rows != RowKind::equations)
    s.fail("begin_row", "rows of variables have a number, only equations are appended");
  if (s.appended == std::numeric_limits<index_t>::max())
    s.fail("begin_row", "more than 2^31 - 1 rows");
  s.enter_row(-1 - s.appended);
}

template <class T>
void SystemChunk<T>::begin_row(index_t row) {
  State& s = *state_;
  s.require_outside_row("begin_row");
  s.require_row("begin_row", row);
  s.enter_row(row);
}

template <class T>
void SystemChunk<T>::coefficient_other(index_t variable, T value) {
  State& s = *state_;
  s.require_in_row("coefficient");
  s.require_variable("coefficient", variable);
  s.stream.reserve(1);
  s.stream.push(s.row(), variable, value);
}

template <class T>
void SystemChunk<T>::right_hand_side(T value, int k) {
  State& s = *state_;
  s.require_in_row("right_hand_side");
  s.require_right_hand_side("right_hand_side", k);
  s.given |= std::uint64_t(1) << k;
  s.given_values[static_cast<std::size_t>(k)] = value;
}

template <class T>
void SystemChunk<T>::scale(T factor) {
  State& s = *state_;
  s.require_in_row("scale");
  s.row_scale = factor;
}

template <class T>
void SystemChunk<T>::end_row() {
  State& s = *state_;
  s.require_in_row("end_row");
  if (s.given != 0) s.stream.reserve(std::popcount(s.given));
  const T factor = s.row_factor();
  if (factor != 1)
    s.stream.for_each_piece(s.row_begin, s.stream.position(),
                            [&](const index_t*, const index_t*, T* values, offset_t n) {
                              for (offset_t i = 0; i < n; ++i) values[i] *= factor;
                            });
  for (std::uint64_t given = s.given; given != 0; given &= given - 1) {
    const int k = std::countr_zero(given);
    s.stream.push(s.row(), -1 - k, s.given_values[static_cast<std::size_t>(k)] * factor);
  }
  s.leave_row();
}

template <class T>
SystemChunk<T>::SystemChunk(std::unique_ptr<State> state)
    : state_(std::move(state)), cursor_(&state_->stream.cursor) {}
template <class T>
SystemChunk<T>::~SystemChunk() = default;
template <class T>
SystemChunk<T>::SystemChunk(SystemChunk&&) noexcept = default;

template class SystemChunk<float>;
template class SystemChunk<double>;

}  // namespace cnc
