#include "io/entry_reader.hpp"

#include "io/array_cursor.hpp"
#include "io/matrix_market_header.hpp"
#include "io/memory_limit.hpp"
#include "io/text_reader.hpp"
#include "parallel.hpp"

#include <algorithm>

namespace cnc::detail {

namespace {

/// Cuts a window at line ends into about equal chunks.
template <class T>
std::vector<EntryChunk<T>> split(std::string_view window, const ReadOptions& options) {
  const std::size_t most = std::max<std::size_t>(window.size() / options.chunk_bytes, 1);
  const std::size_t parts = std::min(most, static_cast<std::size_t>(options.thread_count()));
  std::vector<EntryChunk<T>> chunks;
  std::size_t begin = 0;
  for (std::size_t k = 1; k <= parts && begin < window.size(); ++k) {
    const std::size_t goal = std::max(window.size() / parts * k, begin + 1);
    const std::size_t end = k == parts ? window.size() : window.find('\n', goal - 1) + 1;
    chunks.emplace_back().text = window.substr(begin, end - begin);
    begin = end;
  }
  return chunks;
}

template <class T>
class Entries {
 public:
  Entries(TextReader& text, MatrixMarketHeader header, const ReadOptions& options)
      : text_(text), header_(header), options_(options), cursor_(header) {}

  std::vector<EntryPiece<T>> read() {
    for (std::string_view window = text_.next_window(); !window.empty();
         window = text_.next_window()) {
      std::vector<EntryChunk<T>> chunks = split<T>(window, options_);
      for_each(chunks, [&](std::size_t k) { count_lines(chunks[k]); });
      check_room(chunks);
      for_each(chunks, [&](std::size_t k) { parse_chunk(header_, chunks[k]); });
      for (EntryChunk<T>& chunk : chunks) {
        check(chunk);
      }
      if (header_.layout == MatrixMarketHeader::Layout::array) {
        place(chunks);
      }
      for (EntryChunk<T>& chunk : chunks) {
        if (chunk.entries.count > 0) {
          held_ += static_cast<double>(chunk.entries.count) * EntryPiece<T>::entry_bytes;
          pieces_.push_back(std::move(chunk.entries));
        }
      }
    }
    if (seen_ < header_.entries) {
      fail(text_.line(), "the file ends after " + std::to_string(seen_) + " of " +
                             std::to_string(header_.entries) + " entries");
    }
    return std::move(pieces_);
  }

 private:
  template <class Body>
  void for_each(const std::vector<EntryChunk<T>>& chunks, const Body& body) {
    parallel_for(chunks.size(), body, static_cast<int>(chunks.size()));
  }

  static void count_lines(EntryChunk<T>& chunk) {
    chunk.lines = static_cast<std::size_t>(std::count(chunk.text.begin(), chunk.text.end(), '\n'));
  }

  /// Entries add up while a file is read, and a small compressed file may hold many.
  void check_room(const std::vector<EntryChunk<T>>& chunks) const {
    std::size_t lines = 0;
    for (const EntryChunk<T>& chunk : chunks) lines += chunk.lines;
    check_memory(text_.name(), held_, static_cast<double>(lines) * EntryPiece<T>::entry_bytes,
                 options_);
  }

  /// Called in the file's order, so the first fault of the file is the one that is told.
  void check(EntryChunk<T>& chunk) {
    const auto left = static_cast<std::size_t>(header_.entries - seen_);
    check_triangle(chunk);
    if (chunk.entries.count > left) {
      fail_at(chunk, position_of_entry(chunk.text, left),
              "more entries than the " + std::to_string(header_.entries) + " of the size line");
    }
    if (chunk.fault != EntryFault::none) {
      fail_at(chunk, chunk.fault_at, describe_fault(header_, chunk));
    }
    seen_ += static_cast<offset_t>(chunk.entries.count);
    text_.add_lines(chunk.lines);
  }

  /// A chunk that took the other triangle than the ones before it is cut down to where it did.
  void check_triangle(EntryChunk<T>& chunk) {
    if (triangle_ == Triangle::unknown) {
      triangle_ = chunk.triangle;
    } else if (chunk.triangle != Triangle::unknown && chunk.triangle != triangle_) {
      chunk.entries.count = chunk.first_off_diagonal;
      chunk.fault = EntryFault::other_triangle;
      chunk.fault_at = position_of_entry(chunk.text, chunk.entries.count);
    }
  }

  /// Gives the values of an array file their indices and drops its zeros.
  void place(std::vector<EntryChunk<T>>& chunks) {
    std::vector<ArrayCursor> starts;
    for (const EntryChunk<T>& chunk : chunks) {
      starts.push_back(cursor_);
      cursor_.advance(static_cast<offset_t>(chunk.entries.count));
    }
    for_each(chunks, [&](std::size_t k) {
      EntryPiece<T>& piece = chunks[k].entries;
      ArrayCursor cursor = starts[k];
      const auto zeros = std::count(piece.values.get(), piece.values.get() + piece.count, T{0});
      const std::size_t kept = piece.count - static_cast<std::size_t>(zeros);
      piece.rows.reset(new index_t[kept]);
      piece.cols.reset(new index_t[kept]);
      std::size_t count = 0;
      for (std::size_t e = 0; e < piece.count; ++e, cursor.advance(1)) {
        if (piece.values[e] != T{0}) {
          piece.rows[count] = cursor.row();
          piece.cols[count] = cursor.col();
          piece.values[count++] = piece.values[e];
        }
      }
      piece.count = count;
    });
  }

  [[noreturn]] void fail_at(const EntryChunk<T>& chunk, std::size_t position,
                            const std::string& reason) const {
    const std::string_view before = chunk.text.substr(0, position);
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    fail(text_.line() + line + 1, reason);
  }

  [[noreturn]] void fail(std::size_t line, const std::string& reason) const {
    throw IoError(text_.name(), line, reason);
  }

  TextReader& text_;
  MatrixMarketHeader header_;
  const ReadOptions& options_;
  ArrayCursor cursor_;
  offset_t seen_ = 0;
  double held_ = 0;  ///< bytes of the pieces
  Triangle triangle_ = Triangle::unknown;
  std::vector<EntryPiece<T>> pieces_;
};

}  // namespace

template <class T>
MatrixMarketEntries<T> read_entries(ByteSource& source, const std::string& name,
                                    const ReadOptions& options,
                                    void (*check_header)(const MatrixMarketHeader&,
                                                         const std::string& name)) {
  TextReader text(source, name, options.window());
  MatrixMarketEntries<T> result;
  result.header = read_header(text);
  if (check_header != nullptr) {
    check_header(result.header, name);
  }
  result.pieces = Entries<T>(text, result.header, options).read();
  return result;
}

template MatrixMarketEntries<float> read_entries(ByteSource&, const std::string&,
                                                 const ReadOptions&,
                                                 void (*)(const MatrixMarketHeader&,
                                                          const std::string&));
template MatrixMarketEntries<double> read_entries(ByteSource&, const std::string&,
                                                  const ReadOptions&,
                                                  void (*)(const MatrixMarketHeader&,
                                                           const std::string&));

}  // namespace cnc::detail
