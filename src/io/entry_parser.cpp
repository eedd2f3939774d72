#include "io/entry_parser.hpp"

#include "io/entry_text.hpp"
#include "io/matrix_market_header.hpp"

#include <algorithm>
#include <cstring>

namespace cnc::detail {

namespace {

using Field = MatrixMarketHeader::Field;
using Layout = MatrixMarketHeader::Layout;
using Symmetry = MatrixMarketHeader::Symmetry;

const char* next_line(const char* p, const char* end) {
  return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p))) + 1;
}

bool is_banner_at(const char* p, const char* end) {
  return end - p > 1 && p[1] == '%' &&
         is_banner(std::string_view(p, static_cast<std::size_t>(next_line(p, end) - p)));
}

EntryFault parse_line_end(const char*& p) {
  p = skip_blanks(p);
  if (*p != '\n') {
    return EntryFault::surplus_text;
  }
  ++p;
  return EntryFault::none;
}

/// Calls `parse_entry(p)` at the first word of every entry line, which leaves `p` at the next line.
template <class T, class ParseEntry>
void for_each_entry(EntryChunk<T>& chunk, const ParseEntry& parse_entry) {
  const char* const begin = chunk.text.data();
  const char* const end = begin + chunk.text.size();
  const char* p = begin;
  while (p != end && chunk.fault == EntryFault::none) {
    p = skip_blanks(p);
    if (*p == '\n') {
      ++p;
    } else if (*p != '%') {
      chunk.fault = parse_entry(p);
    } else if (is_banner_at(p, end)) {
      chunk.fault = EntryFault::second_banner;
    } else {
      p = next_line(p, end);
    }
  }
  chunk.fault_at = static_cast<std::size_t>(p - begin);
}

template <class T>
EntryFault check_symmetric(Symmetry symmetry, index_t row, index_t col, bool nonzero,
                           std::size_t entry, EntryChunk<T>& chunk) {
  if (row == col) {
    return symmetry == Symmetry::skew_symmetric && nonzero ? EntryFault::nonzero_skew_diagonal
                                                           : EntryFault::none;
  }
  const Triangle triangle = row > col ? Triangle::lower : Triangle::upper;
  if (chunk.triangle == Triangle::unknown) {
    chunk.triangle = triangle;
    chunk.first_off_diagonal = entry;
  }
  return chunk.triangle == triangle ? EntryFault::none : EntryFault::other_triangle;
}

template <class T, Field field>
void parse_coordinates(const MatrixMarketHeader& header, EntryChunk<T>& chunk) {
  EntryPiece<T>& piece = chunk.entries;
  piece.rows.reset(new index_t[chunk.lines]);
  piece.cols.reset(new index_t[chunk.lines]);
  if constexpr (field != Field::pattern) {
    piece.values.reset(new T[chunk.lines]);
  }
  // Read once into locals: the compiler cannot know that the arrays do not overlap the header.
  const index_t rows = header.rows;
  const index_t cols = header.cols;
  const Symmetry symmetry = header.symmetry;
  index_t* const row_of = piece.rows.get();
  index_t* const col_of = piece.cols.get();
  T* const value_of = piece.values.get();
  const char* const end = chunk.text.data() + chunk.text.size();
  std::size_t count = 0;

  for_each_entry(chunk, [&](const char*& p) {
    const char* const line = p;
    index_t row = 0;
    index_t col = 0;
    [[maybe_unused]] T value{1};
    EntryFault fault =
        parse_index(p, rows, EntryFault::row_not_integer, EntryFault::row_out_of_range, row);
    if (fault != EntryFault::none) {
      return fault;
    }
    p = skip_blanks(p);
    fault =
        parse_index(p, cols, EntryFault::column_not_integer, EntryFault::column_out_of_range, col);
    if (fault != EntryFault::none) {
      return fault;
    }
    if constexpr (field != Field::pattern) {
      p = skip_blanks(p);
      fault = parse_value<T, field>(p, end, value);
      if (fault != EntryFault::none) {
        return fault;
      }
    }
    fault = parse_line_end(p);
    if (fault != EntryFault::none) {
      return fault;
    }
    if (symmetry != Symmetry::general) {
      fault = check_symmetric(symmetry, row, col, value != T{0}, count, chunk);
      if (fault != EntryFault::none) {
        p = line;
        return fault;
      }
    }
    row_of[count] = row;
    col_of[count] = col;
    if constexpr (field != Field::pattern) {
      value_of[count] = value;
    }
    ++count;
    return EntryFault::none;
  });
  piece.count = count;
}

template <class T, Field field>
void parse_array(EntryChunk<T>& chunk) {
  chunk.entries.values.reset(new T[chunk.lines]);
  T* const value_of = chunk.entries.values.get();
  const char* const end = chunk.text.data() + chunk.text.size();
  std::size_t count = 0;
  for_each_entry(chunk, [&](const char*& p) {
    T value{};
    EntryFault fault = parse_value<T, field>(p, end, value);
    if (fault == EntryFault::none) {
      fault = parse_line_end(p);
    }
    if (fault == EntryFault::none) {
      value_of[count++] = value;
    }
    return fault;
  });
  chunk.entries.count = count;
}

}  // namespace

template <class T>
void parse_chunk(const MatrixMarketHeader& header, EntryChunk<T>& chunk) {
  const bool array = header.layout == Layout::array;
  switch (header.field) {
    case Field::real:
      return array ? parse_array<T, Field::real>(chunk)
                   : parse_coordinates<T, Field::real>(header, chunk);
    case Field::integer:
      return array ? parse_array<T, Field::integer>(chunk)
                   : parse_coordinates<T, Field::integer>(header, chunk);
    case Field::pattern: return parse_coordinates<T, Field::pattern>(header, chunk);
  }
}

template <class T>
std::string describe_fault(const MatrixMarketHeader& header, const EntryChunk<T>& chunk) {
  const std::string word = in_quotes(chunk.text.substr(chunk.fault_at));
  const auto range = [](index_t n) { return " is out of range 1.." + std::to_string(n); };
  switch (chunk.fault) {
    case EntryFault::none: break;
    case EntryFault::row_not_integer: return "expected a row index, found " + word;
    case EntryFault::row_out_of_range: return "row index " + word + range(header.rows);
    case EntryFault::column_not_integer: return "expected a column index, found " + word;
    case EntryFault::column_out_of_range: return "column index " + word + range(header.cols);
    case EntryFault::other_triangle:
      return "entries on both sides of the diagonal: a symmetric file holds one triangle only";
    case EntryFault::not_a_number: return "expected a number, found " + word;
    case EntryFault::not_an_integer: return "expected an integer value, found " + word;
    case EntryFault::not_finite: return "the value " + word + " is not finite";
    case EntryFault::overflow:
      return "the value " + word + " is too large for " + (sizeof(T) == 4 ? "float" : "double");
    case EntryFault::nonzero_skew_diagonal:
      return "a nonzero on the diagonal of a skew-symmetric matrix";
    case EntryFault::surplus_text: return "unexpected text after the entry: " + word;
    case EntryFault::second_banner: return "a second %%MatrixMarket banner";
  }
  return "no fault";
}

std::size_t position_of_entry(std::string_view text, std::size_t entry) {
  const char* const end = text.data() + text.size();
  const char* p = text.data();
  for (std::size_t seen = 0; p != end; p = next_line(p, end)) {
    const char first = *skip_blanks(p);
    if (first != '\n' && first != '%' && seen++ == entry) {
      break;
    }
  }
  return static_cast<std::size_t>(p - text.data());
}

template void parse_chunk(const MatrixMarketHeader&, EntryChunk<float>&);
template void parse_chunk(const MatrixMarketHeader&, EntryChunk<double>&);
template std::string describe_fault(const MatrixMarketHeader&, const EntryChunk<float>&);
template std::string describe_fault(const MatrixMarketHeader&, const EntryChunk<double>&);

}  // namespace cnc::detail
