#include "distributed/cache_rows.hpp"

#include "distributed/cut.hpp"
#include "distributed/own_memory.hpp"
#include "io/check_finite.hpp"

#include <cnc/convert.hpp>
#include <cnc/io.hpp>

#include <fstream>
#include <type_traits>

namespace cnc::detail {
namespace {

/// The arrays of a matrix in a binary cache, of which any part can be read.
class CacheFile {
 public:
  CacheFile(const std::string& path, const CacheHeader& header)
      : path_(path), file_(path, std::ios::binary) {
    offsets_ = sizeof header;
    columns_ = offsets_ + (header.rows + 1) * offset_t{sizeof(index_t)};
    values_ = columns_ + header.entries * offset_t{sizeof(index_t)};
  }
  /// @{
  /// Entries first to end - 1 of an array.
  /// Errors   IoError, OutOfMemory.
  Vector<index_t> offsets(offset_t first, offset_t end) {
    return part<index_t>(offsets_, first, end);
  }
  Vector<index_t> columns(offset_t first, offset_t end) {
    return part<index_t>(columns_, first, end);
  }
  template <class T>
  Vector<T> values(offset_t first, offset_t end) {
    return part<T>(values_, first, end);
  }
  /// @}

 private:
  template <class E>
  Vector<E> part(offset_t array, offset_t first, offset_t end) {
    if (!file_.is_open()) throw IoError(path_, 0, "cannot be opened");
    const auto entries = uninitialized<E>("cnc::cache", static_cast<std::size_t>(end - first));
    file_.seekg(array + first * offset_t{sizeof(E)});
    if (!file_.read(reinterpret_cast<char*>(entries.data()),
                    static_cast<std::streamsize>(entries.extent(0) * sizeof(E))))
      throw IoError(path_, 0, "reading a part of it failed");
    return entries;
  }
  const std::string& path_;
  std::ifstream file_;
  offset_t offsets_, columns_, values_;  ///< where the arrays begin
};

/// The hash of a file is of all its bytes in their order: ranks go on with it one after the other.
class HashOfAll {
 public:
  HashOfAll(Channel& channel, const CacheHeader& header) : channel_(channel) {
    hash_.add(&header, cache_hashed_header);
  }
  /// The parts of an array, in the order of ranks. Collective.
  template <class E>
  void add(const Vector<E>& mine, std::size_t count) {
    for (int r = 0; r < channel_.size(); ++r) {
      if (r == channel_.rank()) hash_.add(mine.data(), count * sizeof(E));
      hash_.go_on_from(channel_.broadcast_bytes(&hash_, sizeof hash_, r));
    }
  }
  std::uint64_t digest() const { return hash_.digest(); }

 private:
  Channel& channel_;
  CacheHash hash_;
};

/// With values as they are in the file.
template <class T, class Stored>
std::optional<FirstAndRows<T>> read_own(Channel& channel, const std::string& path,
                                        const CacheHeader& header, int block_size) {
  CacheFile file(path, header);
  const auto all_rows = static_cast<index_t>(header.rows);
  std::vector<index_t> bounds(static_cast<std::size_t>(channel.size()) + 1);
  channel.on_each([&] {
    if (channel.rank() == 0)
      bounds = even_segments(all_rows, block_size, channel.size(),
                             [&](index_t row) { return file.offsets(row, row + 1)(0); });
  });
  const index_t* const told = channel.broadcast(bounds.data(), channel.size() + 1);
  const index_t first = told[channel.rank()], end = told[channel.rank() + 1];
  const auto rows = static_cast<std::size_t>(end - first);

  Vector<index_t> offsets, columns;
  Vector<Stored> values;
  bool faulty = false;
  channel.on_each([&] {
    offsets = file.offsets(first, offset_t(end) + 1);
    const index_t begin = offsets(0), finish = offsets(rows);
    faulty = begin < 0 || finish < begin || finish > header.entries || (first == 0 && begin != 0) ||
             (end == all_rows && finish != header.entries);
    if (faulty) return;
    for (std::size_t i = 0; i < rows; ++i) faulty |= offsets(i + 1) < offsets(i);
    if (!faulty) require_memory_for_own(channel, path, finish - begin);
  });
  if (channel.anywhere(faulty)) return {};
  channel.on_each([&] {  // once no rank looks for memory any more
    const index_t begin = offsets(0), finish = offsets(rows);
    columns = file.columns(begin, finish);
    values = file.values<Stored>(begin, finish);
  });

  HashOfAll hash(channel, header);
  hash.add(offsets, rows + (channel.rank() == channel.size() - 1));
  hash.add(columns, columns.extent(0));
  hash.add(values, values.extent(0));
  if (hash.digest() != header.checksum) return {};

  FirstAndRows<T> own{first, {}};
  channel.on_each([&] {
    const index_t begin = offsets(0);
    for (std::size_t i = 0; i <= rows; ++i) offsets(i) -= begin;
    const CsrMatrix<Stored> stored(end - first, all_rows, 1, offsets, columns, values);
    try {
      stored.validate();
      if constexpr (std::is_same_v<T, Stored>)
        own.rows = stored;
      else
        own.rows = convert_values<T>(stored);
      check_finite(path, own.rows.values);
    } catch (const InvalidArgument&) {
      faulty = true;
    } catch (const IoError&) {
      faulty = true;
    }
  });
  if (channel.anywhere(faulty)) return {};
  return own;
}

}  // namespace

template <class T>
std::optional<FirstAndRows<T>> rows_of_cache(Channel& channel, const std::string& path,
                                             const CacheHeader& header, int block_size) {
  return header.value_bytes == sizeof(float)
             ? read_own<T, float>(channel, path, header, block_size)
             : read_own<T, double>(channel, path, header, block_size);
}

template std::optional<FirstAndRows<float>> rows_of_cache(Channel&, const std::string&,
                                                          const CacheHeader&, int);
template std::optional<FirstAndRows<double>> rows_of_cache(Channel&, const std::string&,
                                                           const CacheHeader&, int);

}  // namespace cnc::detail
