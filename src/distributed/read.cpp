#include "distributed/cache_rows.hpp"
#include "distributed/channel.hpp"
#include "distributed/cut.hpp"
#include "distributed/partition_plan.hpp"
#include "io/cache_reader.hpp"
#include "io/csr_from_pieces.hpp"
#include "io/entry_reader.hpp"
#include "io/matrix_market_header.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

// A file that each rank parses a part of, and the entries on their way to the ranks that own their rows.

namespace cnc {
namespace detail {
namespace {

/// What the first rank sees of a file, and the others are told.
struct FileFacts {
  offset_t begin = 0, end = 0;  ///< bytes of the entries
  offset_t rows = 0, entries = 0;
  std::int32_t symmetry = 0, field = 0;
  std::int32_t in_parts = 0;    ///< whether ranks can read parts of it
  std::int32_t block_size = 1;  ///< rows that a cut keeps together, of the first rank
  CacheHeader cache = {};       ///< of a binary cache; else without rows
};

/// Errors   IoError, as of a header read for a matrix.
FileFacts look_at(const std::string& path) {
  constexpr std::size_t window = std::size_t{1} << 16;
  constexpr std::string_view gzip = "\x1f\x8b";
  FileFacts facts;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return facts;  // a pipe is read once
  const auto source = open_file(path, 1);
  if (is_cache(*source)) {
    facts.cache = read_cache_header(*source, path);
    facts.rows = facts.cache.rows;
    facts.in_parts = facts.rows > 0 && facts.rows == facts.cache.cols;
    return facts;
  }
  if (source->peek(2) == gzip) return facts;
  TextReader text(*source, path, window);
  const MatrixMarketHeader header = read_header(text);
  if (header.layout != MatrixMarketHeader::Layout::coordinate || header.rows != header.cols)
    return facts;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  for (std::size_t k = 0; k < text.line(); ++k) std::getline(file, line);
  facts.begin = file ? static_cast<offset_t>(file.tellg()) : -1;
  facts.end = static_cast<offset_t>(std::filesystem::file_size(path, error));
  facts.rows = header.rows;
  facts.entries = header.entries;
  facts.symmetry = static_cast<std::int32_t>(header.symmetry);
  facts.field = static_cast<std::int32_t>(header.field);
  facts.in_parts = facts.begin >= 0 && facts.begin < facts.end && facts.rows > 0;
  return facts;
}

/// The lines of a file that begin in a part of its bytes.
/// Errors   IoError (it cannot be read).
std::string lines_of_part(const std::string& path, const FileFacts& facts, int part, int parts) {
  std::ifstream file(path, std::ios::binary);
  const auto failed = [&] { return IoError(path, 0, "reading a part of it failed"); };
  const auto line_from = [&](int p) {  // the first line that begins at this byte or later
    const offset_t at = facts.begin + (facts.end - facts.begin) / parts * p;
    if (p == parts) return facts.end;
    if (p == 0) return facts.begin;
    file.seekg(at - 1);
    for (offset_t next = at;; ++next) {
      const int c = file.get();
      if (c == std::ifstream::traits_type::eof()) break;
      if (c == '\n') return next;
    }
    file.clear();
    return facts.end;
  };
  const offset_t begin = line_from(part), end = line_from(part + 1);
  std::string text(static_cast<std::size_t>(std::max<offset_t>(end - begin, 0)), '\0');
  file.seekg(begin);
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) throw failed();
  return text;
}

/// Lines that are neither empty nor a comment.
offset_t entry_lines(std::string_view text) {
  offset_t lines = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t first = text.substr(0, end).find_first_not_of(" \t\r");
    lines += first != std::string_view::npos && text[first] != '%';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// A header and lines, as one text.
class HeaderAndLines final : public ByteSource {
 public:
  HeaderAndLines(std::string header, std::string_view lines)
      : header_(std::move(header)), lines_(lines) {}

 private:
  std::size_t read_more(char* to, std::size_t n) override {
    const std::size_t of_header = std::min(n, header_.size() - at_);
    std::copy_n(header_.data() + at_, of_header, to);
    at_ += of_header;
    const std::size_t of_lines = std::min(n - of_header, lines_.size());
    std::copy_n(lines_.data(), of_lines, to + of_header);
    lines_.remove_prefix(of_lines);
    return of_header + of_lines;
  }
  std::string header_;
  std::size_t at_ = 0;
  std::string_view lines_;
};

/// Which of some consecutive ranges of rows one is in: often that of the one asked for before.
class Owners {
 public:
  explicit Owners(const std::vector<offset_t>& firsts) : firsts_(firsts) {}
  std::size_t operator()(offset_t row) {
    if (row < firsts_[last_] || row >= firsts_[last_ + 1])
      last_ = static_cast<std::size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), row) -
                                       firsts_.begin() - 1);
    return last_;
  }

 private:
  const std::vector<offset_t>& firsts_;
  std::size_t last_ = 0;
};

/// Entries on their way to other ranks; own ones stay.
template <class T>
struct Traffic {
  std::vector<std::vector<index_t>> rows, columns;
  std::vector<std::vector<T>> values;
  EntryPiece<T> own;

  /// Room for so many to each rank.
  Traffic(const std::vector<std::size_t>& counts, std::size_t here)
      : rows(counts.size()), columns(counts.size()), values(counts.size()) {
    for (std::size_t r = 0; r < counts.size(); ++r) {
      if (r == here) continue;
      rows[r].reserve(counts[r]);
      columns[r].reserve(counts[r]);
      values[r].reserve(counts[r]);
    }
    own = room(counts[here]);
    own.count = 0;
  }

  static EntryPiece<T> room(std::size_t count) {
    EntryPiece<T> piece;
    piece.count = count;
    piece.rows.reset(new index_t[count]);
    piece.cols.reset(new index_t[count]);
    piece.values.reset(new T[count]);
    return piece;
  }
};

/// What a part of a file holds, symmetry expanded.
template <class T>
class PartOfFile {
 public:
  /// Collective. Nothing, on all ranks, where one of them finds a fault: whoever reads the whole file can say which is the first.
  static std::optional<PartOfFile> parsed(Channel& channel, const std::string& path,
                                          const FileFacts& facts) {
    PartOfFile part(facts);
    std::string text;
    offset_t lines = 0;
    channel.on_each([&] {
      text = lines_of_part(path, facts, channel.rank(), channel.size());
      lines = entry_lines(text);
    });
    bool faulty = false;
    channel.on_each([&] {
      const std::string n = std::to_string(facts.rows);
      HeaderAndLines source(std::string("%%MatrixMarket matrix coordinate ") + part.field_word() +
                                " " + part.symmetry_word() + "\n" + n + " " + n + " " +
                                std::to_string(lines) + "\n",
                            text);
      try {
        part.pieces_ = read_entries<T>(source, path, {}).pieces;
      } catch (const IoError&) {
        faulty = true;
      }
    });
    const offset_t mine[] = {lines, faulty, part.has_entry(true), part.has_entry(false)};
    const offset_t* const all = channel.gather_all(mine, 4);
    offset_t sums[4] = {};
    for (int r = 0; r < channel.size(); ++r)
      for (int k = 0; k < 4; ++k) sums[k] += all[4 * r + k];
    const bool both = facts.symmetry != 0 && sums[2] > 0 && sums[3] > 0;
    if (sums[0] != facts.entries || sums[1] > 0 || both) return {};
    return part;
  }

  /// body(row, column, value), in the order of the file.
  template <class Body>
  void for_each(const Body& body) const {
    const T mirrored =
        facts_.symmetry == int(MatrixMarketHeader::Symmetry::skew_symmetric) ? T(-1) : T(1);
    for (const EntryPiece<T>& piece : pieces_)
      for (std::size_t k = 0; k < piece.count; ++k) {
        const index_t row = piece.rows[k], column = piece.cols[k];
        const T value = piece.values ? piece.values[k] : T(1);
        body(row, column, value);
        if (facts_.symmetry != 0 && row != column) body(column, row, mirrored * value);
      }
  }

 private:
  explicit PartOfFile(const FileFacts& facts) : facts_(facts) {}
  const char* field_word() const {
    switch (MatrixMarketHeader::Field(facts_.field)) {
      case MatrixMarketHeader::Field::integer: return "integer";
      case MatrixMarketHeader::Field::pattern: return "pattern";
      default: return "real";
    }
  }
  const char* symmetry_word() const {
    switch (MatrixMarketHeader::Symmetry(facts_.symmetry)) {
      case MatrixMarketHeader::Symmetry::symmetric: return "symmetric";
      case MatrixMarketHeader::Symmetry::skew_symmetric: return "skew-symmetric";
      default: return "general";
    }
  }
  /// Whether there is one above, or below, the diagonal.
  bool has_entry(bool above) const {
    for (const EntryPiece<T>& piece : pieces_)
      for (std::size_t k = 0; k < piece.count; ++k)
        if (above ? piece.rows[k] < piece.cols[k] : piece.rows[k] > piece.cols[k]) return true;
    return false;
  }

  FileFacts facts_;
  std::vector<EntryPiece<T>> pieces_;
};

/// Which rows each rank gets: segments of as equal numbers of entries as groups of rows allow. Collective.
template <class T>
std::vector<offset_t> segments_of(Channel& channel, const PartOfFile<T>& part, offset_t rows,
                                  int block_size) {
  constexpr offset_t most_groups = 1 << 16;  // whose counts every rank has from every other
  const offset_t blocks = ceil_div(rows, offset_t(block_size));
  const offset_t group_rows = ceil_div(blocks, most_groups) * block_size;
  const auto groups = static_cast<std::size_t>(ceil_div(rows, group_rows));
  std::vector<offset_t> counts(groups, 0), before(groups + 1, 0);
  part.for_each([&](index_t row, index_t, T) { ++counts[std::size_t(row / group_rows)]; });
  const offset_t* const all = channel.gather_all(counts.data(), static_cast<int>(groups));
  for (std::size_t g = 0; g < groups; ++g) {
    before[g + 1] = before[g];
    for (std::size_t r = 0; r < std::size_t(channel.size()); ++r)
      before[g + 1] += all[r * groups + g];
  }
  const auto firsts = even_segments(
      static_cast<index_t>(rows), static_cast<int>(group_rows), channel.size(), [&](index_t row) {
        return before[static_cast<std::size_t>(ceil_div(offset_t(row), group_rows))];
      });
  return {firsts.begin(), firsts.end()};
}

}  // namespace
}  // namespace detail

template <class T>
PartitionedMatrix<T> PartitionedMatrix<T>::read(const Communicator& ranks, const std::string& path,
                                                int block_size) {
  detail::Channel& channel = *ranks.channel();
  PartitionedMatrix result;
  channel.together([&] {
    detail::FileFacts facts;
    channel.on_each([&] {
      require(block_size >= 1, "PartitionedMatrix: block_size must be at least 1");
      if (channel.rank() != 0) return;
      facts = detail::look_at(path);
      facts.block_size = block_size;
    });
    facts = *static_cast<const detail::FileFacts*>(channel.broadcast_bytes(&facts, sizeof facts));
    const bool in_parts = facts.in_parts && channel.size() > 1;
    const auto read_by_first = [&] {
      CsrMatrix<T> whole;
      channel.on_each([&] {
        if (channel.rank() == 0) whole = read_matrix<T>(path);
      });
      result = scattered(ranks, whole, {.block_size = block_size});
    };
    if (!in_parts) return read_by_first();
    if (facts.cache.rows > 0) {
      const auto own = detail::rows_of_cache<T>(channel, path, facts.cache, facts.block_size);
      if (!own) return read_by_first();
      result = of_segment(ranks, own->first, own->rows);
      return;
    }
    auto part = detail::PartOfFile<T>::parsed(channel, path, facts);
    if (!part) return read_by_first();
    const std::vector<offset_t> firsts =
        detail::segments_of(channel, *part, facts.rows, facts.block_size);
    const auto here = static_cast<std::size_t>(channel.rank());
    const offset_t first = firsts[here], rows = firsts[here + 1] - first;
    std::optional<detail::Traffic<T>> sent;
    channel.on_each([&] {
      std::vector<std::size_t> counts(static_cast<std::size_t>(channel.size()), 0);
      detail::Owners owner(firsts);
      part->for_each([&](index_t row, index_t, T) { ++counts[owner(row)]; });
      sent.emplace(counts, here);
      detail::EntryPiece<T>& own = sent->own;
      part->for_each([&](index_t row, index_t column, T value) {
        const std::size_t r = owner(row);
        if (r == here) {
          own.rows[own.count] = static_cast<index_t>(row - first);
          own.cols[own.count] = column;
          own.values[own.count++] = value;
          return;
        }
        sent->rows[r].push_back(row);
        sent->columns[r].push_back(column);
        sent->values[r].push_back(value);
      });
      part.reset();
    });
    const auto rows_of = channel.exchange_lists(sent->rows);
    const auto columns_of = channel.exchange_lists(sent->columns);
    const auto values_of = channel.exchange_lists(sent->values);
    CsrMatrix<T> own;
    bool faulty = false;
    channel.on_each([&] {
      std::vector<detail::EntryPiece<T>> pieces;  // by rank: in the order of the file
      MatrixMarketHeader header;
      header.rows = static_cast<index_t>(rows);
      header.cols = static_cast<index_t>(facts.rows);
      for (std::size_t r = 0; r < rows_of.size(); ++r) {
        detail::EntryPiece<T>& piece = pieces.emplace_back(
            r == here ? std::move(sent->own) : detail::Traffic<T>::room(rows_of[r].size()));
        if (r != here) {
          for (std::size_t k = 0; k < piece.count; ++k)
            piece.rows[k] = static_cast<index_t>(rows_of[r][k] - first);
          std::copy(columns_of[r].begin(), columns_of[r].end(), piece.cols.get());
          std::copy(values_of[r].begin(), values_of[r].end(), piece.values.get());
        }
        header.entries += static_cast<offset_t>(piece.count);
      }
      try {
        own = detail::csr_from_pieces(path, header, std::move(pieces), {});
      } catch (const IoError&) {  // a sum of entries at one place that is not finite
        faulty = true;
      }
    });
    if (channel.anywhere(faulty)) return read_by_first();
    result = of_segment(ranks, first, own);
  });
  return result;
}

template PartitionedMatrix<float> PartitionedMatrix<float>::read(const Communicator&,
                                                                 const std::string&, int);
template PartitionedMatrix<double> PartitionedMatrix<double>::read(const Communicator&,
                                                                   const std::string&, int);

}  // namespace cnc
