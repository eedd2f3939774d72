#include <cnc/copy.hpp>
#include <cnc/system_builder.hpp>

#include <assemble/sum_entries.hpp>
#include <assemble/system_chunk.hpp>
#include <convert/spaces.hpp>

#include <atomic>
#include <limits>
#include <mutex>
#include <numeric>

namespace cnc {
namespace {

/// Chunks of an assembly of so many parts: enough for the threads of any machine to share, and none for very few.
constexpr offset_t most_chunks = 64;
constexpr offset_t least_chunk = 128;
int chunks_for(offset_t count) {
  return static_cast<int>(std::clamp<offset_t>(count / least_chunk, 1, most_chunks));
}

}  // namespace

template <class T>
struct SystemBuilder<T>::State {
  using Columns = Kokkos::View<T**, Kokkos::LayoutLeft, HostSpace>;

  State(index_t variables, const SystemOptions& options)
      : rules{variables, options, detail::Locks<T>(variables, options.right_hand_sides)} {}

  detail::ChunkRules<T> rules;
  std::vector<SystemChunk<T>> chunks;
  bool open = false;        ///< an assembly has begun
  bool repeatable = false;  ///< the streams still hold the places that `sorted` was made of
  bool finished = false;    ///< there is a system
  bool refreshed = false;

  CsrMatrix<T> matrix;
  Columns b;
  detail::SortedEntries sorted;
#ifdef CNC_KOKKOS_HAS_DEVICE
  CsrMatrix<T, detail::DeviceSpace> on_device;  ///< the matrix, for layouts there
  bool is_on_device = false;                    ///< its pattern is
#endif

  typename SystemChunk<T>::State& chunk(std::size_t k) { return *chunks[k].state_; }

  void begin(int count);
  void finish();
  /// Ends an assembly from which nothing is made.
  void abandon();
  void close();

  void require_rows_ended();
  bool repeats();
  index_t place_appended_rows(std::vector<index_t>& first);
  void build();
  void sum(const detail::SortedEntries& from, const detail::Unknowns<T>& unknowns,
           const CsrMatrix<T>& to, const Columns& to_b);
  void require_system(const char* call) const {
    require(finished, [&] {
      return std::string("SystemBuilder: ") + call + ": no system has been finished";
    });
  }
  void require_variable(const char* call, index_t variable) const {
    require(variable >= 0 && variable < rules.variables, [&] {
      return std::string("SystemBuilder: ") + call + ": variable " + std::to_string(variable) +
             " is out of range (there are " + std::to_string(rules.variables) + ")";
    });
  }
  void require_lengths(const char* call, std::size_t all, std::size_t free) {
    require(all == static_cast<std::size_t>(rules.variables) &&
                free == static_cast<std::size_t>(unknowns().free),
            [&] {
              return std::string("SystemBuilder: ") + call + ": values of " + std::to_string(all) +
                     " variables and " + std::to_string(free) + " unknowns, there are " +
                     std::to_string(rules.variables) + " and " + std::to_string(unknowns().free);
            });
  }
#ifdef CNC_KOKKOS_HAS_DEVICE
  /// Brings the matrix, or its values alone, to the device.
  void upload() {
    if (is_on_device) {
      Kokkos::deep_copy(on_device.values, matrix.values);
    } else {
      on_device = copy_to<detail::DeviceSpace>(matrix);
      is_on_device = true;
    }
  }
#endif
  /// The unknowns of the system; before there is one, those that it would have.
  const detail::Unknowns<T>& unknowns() {
    if (!finished && rules.locks.changed()) rules.locks.use(rules.locks.now());
    if (!finished) rules.locks.use_values();
    return rules.locks.unknowns();
  }
};

template <class T>
void SystemBuilder<T>::State::begin(int count) {
  require(count >= 1, [&] {
    return "SystemBuilder: begin: " + std::to_string(count) + " chunks, at least 1 is needed";
  });
  if (open) abandon();
  const auto n = static_cast<std::size_t>(count);
  if (chunks.size() != n) repeatable = false;
  while (chunks.size() > n) chunks.pop_back();
  chunks.reserve(n);
  while (chunks.size() < n)
    chunks.push_back(SystemChunk<T>(
        std::make_unique<typename SystemChunk<T>::State>(rules, static_cast<int>(chunks.size()))));
  for (std::size_t k = 0; k < n; ++k) chunk(k).begin(repeatable);
  open = true;
}

template <class T>
void SystemBuilder<T>::State::close() {
  for (std::size_t k = 0; k < chunks.size(); ++k) chunk(k).close();
  open = false;
}

template <class T>
void SystemBuilder<T>::State::abandon() {
  // Streams that have left the pattern have written over it.
  for (std::size_t k = 0; k < chunks.size(); ++k)
    repeatable = repeatable && chunk(k).stream.matches();
  close();
}

template <class T>
void SystemBuilder<T>::State::require_rows_ended() {
  for (std::size_t k = 0; k < chunks.size(); ++k)
    if (chunk(k).in_row) chunk(k).fail("finish", "a row has begun and was not ended");
}

template <class T>
bool SystemBuilder<T>::State::repeats() {
  bool result = repeatable && !rules.locks.changed();
  for (std::size_t k = 0; k < chunks.size(); ++k) result = result && chunk(k).repeats();
  return result;
}

template <class T>
void SystemBuilder<T>::State::finish() {
  require(open, "SystemBuilder: finish: no assembly has begun");
  require_rows_ended();
  if (repeats()) {
    rules.locks.use_values();
    sum(sorted, rules.locks.unknowns(), matrix, b);
    refreshed = true;
  } else {
    repeatable = false;
    try {
      build();
    } catch (const std::bad_alloc&) {  // of something small
      detail::throw_out_of_memory("SystemBuilder: finish", 0,
                                  detail::free_bytes(MemorySpace::host));
    }
    for (std::size_t k = 0; k < chunks.size(); ++k) chunk(k).keep();
    repeatable = finished = true;
    refreshed = false;
  }
  close();
}

/// The row that the first appended one of each chunk becomes. Returns the number of all rows.
template <class T>
index_t SystemBuilder<T>::State::place_appended_rows(std::vector<index_t>& first) {
  offset_t rows = rules.rows();
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    first.push_back(static_cast<index_t>(rows));
    rows += chunk(k).appended;
    require(rows <= std::numeric_limits<index_t>::max(),
            "SystemBuilder: finish: more than 2^31 - 1 rows");
  }
  return static_cast<index_t>(rows);
}

template <class T>
void SystemBuilder<T>::State::build() {
  detail::Unknowns<T> unknowns = rules.locks.now();
  std::vector<index_t> appended;
  const index_t all_rows = place_appended_rows(appended);
  std::vector<detail::EntrySpan> spans;
  offset_t segments = 0;
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    const auto& stream = chunk(k).stream;
    stream.for_each_piece(
        0, stream.position(), [&](const index_t* rows, const index_t* columns, T*, offset_t n) {
          spans.push_back({rows, columns, n, segments << detail::segment_bits, appended[k]});
          ++segments;
        });
  }
  const bool of_variables = rules.options.rows == RowKind::variables;
  const index_t rows = of_variables ? unknowns.free : all_rows;
  const index_t* const columns = unknowns.any_locked() ? unknowns.column.data() : nullptr;
  // With a name: nvcc does not pass the braces on.
  const detail::Placement placement{rows, unknowns.free, columns, of_variables};
  detail::SortedEntries made =
      detail::sort_entries(spans, placement, segments << detail::segment_bits);

  CsrMatrix<T> A(rows, unknowns.free, 1, made.row_offsets, made.columns,
                 uninitialized<T>("cnc::values", made.columns.extent(0)));
  detail::use_huge_pages(A.values.data(), A.values.extent(0) * sizeof(T));
  A.checked = Checked::ascending;
  const auto n = static_cast<std::size_t>(rows);
  const auto count = static_cast<std::size_t>(rules.options.right_hand_sides);
  const auto rhs =
      detail::allocated<HostSpace>("cnc::right_hand_sides", n * count * sizeof(T),
                                   [&] { return Columns("cnc::right_hand_sides", n, count); });
  sum(made, unknowns, A, rhs);

  matrix = A;
  b = rhs;
  sorted = std::move(made);
  rules.locks.use(std::move(unknowns));
#ifdef CNC_KOKKOS_HAS_DEVICE
  on_device = {};
  is_on_device = false;
#endif
}

template <class T>
void SystemBuilder<T>::State::sum(const detail::SortedEntries& from,
                                  const detail::Unknowns<T>& unknowns, const CsrMatrix<T>& to,
                                  const Columns& to_b) {
  detail::EntryPlaces<T> entries;
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    const auto& stream = chunk(k).stream;
    stream.for_each_piece(0, stream.position(),
                          [&](const index_t*, const index_t* columns, T* values, offset_t) {
                            entries.values.push_back(values);
                            entries.columns.push_back(columns);
                          });
  }
  std::visit(
      [&](const auto& map) {
        detail::sum_matrix(map.matrix, entries, to.values.data());
        detail::sum_right_hand_sides(map.right_hand_side, entries, unknowns, from.rhs_rows, to_b);
      },
      from.map);
}

template <class T>
SystemBuilder<T>::SystemBuilder(index_t variables, SystemOptions options) {
  require(variables >= 0, "SystemBuilder: the number of variables must not be negative");
  require(options.equations >= 0, "SystemBuilder: the number of equations must not be negative");
  require(options.rows == RowKind::equations || options.equations == 0,
          "SystemBuilder: equations belong to RowKind::equations");
  require(options.right_hand_sides >= 1 && options.right_hand_sides <= 64,
          "SystemBuilder: right_hand_sides must be 1 to 64");
  detail::require_kokkos("SystemBuilder");
  detail::require_memory("SystemBuilder", 2.0 * sizeof(index_t) * variables, MemorySpace::host);
  state_ = std::make_unique<State>(variables, options);
}
template <class T>
SystemBuilder<T>::~SystemBuilder() = default;
template <class T>
SystemBuilder<T>::SystemBuilder(SystemBuilder&&) noexcept = default;
template <class T>
SystemBuilder<T>& SystemBuilder<T>::operator=(SystemBuilder&&) noexcept = default;

template <class T>
const SystemOptions& SystemBuilder<T>::options() const {
  return state_->rules.options;
}
template <class T>
index_t SystemBuilder<T>::variables() const {
  return state_->rules.variables;
}

template <class T>
void SystemBuilder<T>::lock(index_t variable, T value) {
  state_->require_variable("lock", variable);
  state_->rules.locks.lock(variable, [&](std::size_t) { return value; });
}
template <class T>
void SystemBuilder<T>::lock(index_t variable, std::span<const T> values) {
  state_->require_variable("lock", variable);
  require(values.size() == static_cast<std::size_t>(options().right_hand_sides), [&] {
    return "SystemBuilder: lock: " + std::to_string(values.size()) + " values for " +
           std::to_string(options().right_hand_sides) + " right-hand sides";
  });
  state_->rules.locks.lock(variable, [&](std::size_t k) { return values[k]; });
}
template <class T>
void SystemBuilder<T>::unlock(index_t variable) {
  state_->require_variable("unlock", variable);
  state_->rules.locks.unlock(variable);
}
template <class T>
bool SystemBuilder<T>::is_locked(index_t variable) const {
  state_->require_variable("is_locked", variable);
  return state_->rules.locks.is_locked(variable);
}

template <class T>
void SystemBuilder<T>::begin(int chunks) {
  state_->begin(chunks);
}
template <class T>
SystemChunk<T>& SystemBuilder<T>::chunk(int k) {
  State& s = *state_;
  require(s.open, "SystemBuilder: chunk: no assembly has begun");
  require(k >= 0 && static_cast<std::size_t>(k) < s.chunks.size(), [&] {
    return "SystemBuilder: chunk: " + std::to_string(k) + " is out of range (there are " +
           std::to_string(s.chunks.size()) + ")";
  });
  return s.chunks[static_cast<std::size_t>(k)];
}
template <class T>
void SystemBuilder<T>::finish() {
  state_->finish();
}

template <class T>
void SystemBuilder<T>::assemble_ranges(
    offset_t count,
    const std::function<void(SystemChunk<T>&, offset_t begin, offset_t end)>& fill) {
  require(count >= 0, "SystemBuilder: assemble: the count must not be negative");
  const int chunks = chunks_for(count);
  begin(chunks);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(chunks));
  std::atomic<bool> failed{false};
  detail::share_out<detail::NoScratch>(
      chunks, detail::set_up_threads(), [&](int k, detail::NoScratch&) {
        // Chunks are taken in ascending order: all before the first that fails are filled.
        if (failed.load(std::memory_order_relaxed)) return;
        try {
          fill(chunk(k), detail::range_begin(count, k, chunks),
               detail::range_begin(count, k + 1, chunks));
        } catch (...) {
          failures[static_cast<std::size_t>(k)] = std::current_exception();
          failed.store(true, std::memory_order_relaxed);
        }
      });
  try {
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
    finish();
  } catch (...) {
    state_->abandon();
    throw;
  }
}

template <class T>
bool SystemBuilder<T>::was_refreshed() const {
  return state_->refreshed;
}
template <class T>
const CsrMatrix<T>& SystemBuilder<T>::matrix() const {
  state_->require_system("matrix");
  return state_->matrix;
}
template <class T>
Vector<T> SystemBuilder<T>::right_hand_side(int k) const {
  state_->require_system("right_hand_side");
  require(k >= 0 && k < options().right_hand_sides, [&] {
    return "SystemBuilder: right_hand_side: " + std::to_string(k) + " is out of range (there are " +
           std::to_string(options().right_hand_sides) + ")";
  });
  return Kokkos::subview(state_->b, Kokkos::ALL, k);
}
template <class T>
Kokkos::View<T**, Kokkos::LayoutLeft, HostSpace> SystemBuilder<T>::right_hand_sides() const {
  state_->require_system("right_hand_sides");
  return state_->b;
}

template <class T>
template <class Space>
Matrix<T, Space> SystemBuilder<T>::layout(const FormatSpec& format) const {
  State& s = *state_;
  s.require_system("layout");
  if constexpr (detail::is_host_space<Space>) {
    return build_format(s.matrix, format);
  } else {
#ifdef CNC_KOKKOS_HAS_DEVICE
    s.upload();
    return build_format(s.on_device, format);
#endif
  }
}

template <class T>
template <class Space>
void SystemBuilder<T>::refresh(Matrix<T, Space>& layout) const {
  State& s = *state_;
  s.require_system("refresh");
  require(rows(layout) == s.matrix.rows && cols(layout) == s.matrix.cols, [&] {
    return "SystemBuilder: refresh: the layout is " + std::to_string(rows(layout)) + " x " +
           std::to_string(cols(layout)) + ", the matrix " + std::to_string(s.matrix.rows) + " x " +
           std::to_string(s.matrix.cols);
  });
  if constexpr (detail::is_host_space<Space>) {
    update_values(layout, s.matrix);
  } else {
#ifdef CNC_KOKKOS_HAS_DEVICE
    s.upload();
    update_values(layout, s.on_device);
#endif
  }
}

template <class T>
index_t SystemBuilder<T>::free_variables() const {
  return state_->unknowns().free;
}
template <class T>
index_t SystemBuilder<T>::column_of(index_t variable) const {
  state_->require_variable("column_of", variable);
  return std::max(-1, state_->unknowns().column[static_cast<std::size_t>(variable)]);
}

template <class T>
void SystemBuilder<T>::gather(std::span<const T> all, std::span<T> free) const {
  const detail::Unknowns<T>& unknowns = state_->unknowns();
  state_->require_lengths("gather", all.size(), free.size());
  detail::parallel_for(variables(), [&](index_t variable) {
    const auto v = static_cast<std::size_t>(variable);
    const index_t column = unknowns.column[v];
    if (column >= 0) free[static_cast<std::size_t>(column)] = all[v];
  });
}
template <class T>
void SystemBuilder<T>::scatter(std::span<const T> free, std::span<T> all, int k) const {
  const detail::Unknowns<T>& unknowns = state_->unknowns();
  state_->require_lengths("scatter", all.size(), free.size());
  const int count = options().right_hand_sides;
  require(k >= 0 && k < count, [&] {
    return "SystemBuilder: scatter: right-hand side " + std::to_string(k) +
           " is out of range (there are " + std::to_string(count) + ")";
  });
  detail::parallel_for(variables(), [&](index_t variable) {
    const auto v = static_cast<std::size_t>(variable);
    const index_t column = unknowns.column[v];
    all[v] =
        column >= 0
            ? free[static_cast<std::size_t>(column)]
            : unknowns
                  .values[static_cast<std::size_t>(static_cast<offset_t>(-1 - column) * count + k)];
  });
}

template class SystemBuilder<float>;
template class SystemBuilder<double>;

#define CNC_INSTANTIATE(T, Space)                                                     \
  template Matrix<T, Space> SystemBuilder<T>::layout<Space>(const FormatSpec&) const; \
  template void SystemBuilder<T>::refresh<Space>(Matrix<T, Space>&) const;
CNC_FOR_EACH_SPACE(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE

}  // namespace cnc
