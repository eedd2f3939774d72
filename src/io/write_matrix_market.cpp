#include <cnc/io.hpp>

#include "io/text_sink.hpp"
#include "parallel.hpp"

#include <algorithm>
#include <charconv>
#include <ostream>
#include <vector>

namespace cnc {

namespace {

template <class Number>
void append(std::string& text, Number value) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

/// Text of the items [0, n), formatted in parallel, batch by batch, and put in order. Stops early
/// when the stream has failed; whoever opened it says why.
template <class Append>
void put_items(detail::TextSink& sink, const std::ostream& out, index_t n, index_t items_per_part,
               const Append& append_item) {
  const int threads = detail::set_up_threads();
  std::vector<std::string> parts(static_cast<std::size_t>(threads));
  const offset_t batch = static_cast<offset_t>(items_per_part) * threads;
  for (offset_t begin = 0; begin < n && out.good(); begin += batch) {
    detail::parallel_for(
        threads,
        [&](int part) {
          std::string& text = parts[static_cast<std::size_t>(part)];
          text.clear();
          const offset_t first = std::min<offset_t>(begin + part * items_per_part, n);
          const offset_t last = std::min<offset_t>(first + items_per_part, n);
          for (offset_t i = first; i < last; ++i) {
            append_item(text, static_cast<index_t>(i));
          }
        },
        threads);
    for (const std::string& text : parts) {
      sink.put(text);
    }
  }
}

template <class T>
offset_t entries_below(const CsrMatrix<T>& A) {
  offset_t entries = 0;
  for (index_t i = 0; i < A.rows; ++i) {
    const auto* const first = A.columns.data() + A.row_offsets(i);
    const auto* const last = A.columns.data() + A.row_offsets(i + 1);
    entries += std::count_if(first, last, [i](index_t j) { return j <= i; });
  }
  return entries;
}

template <class T>
void append_row(std::string& text, const CsrMatrix<T>& A, index_t i, bool symmetric) {
  for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k) {
    const index_t j = A.columns(k);
    if (symmetric && j > i) {
      continue;
    }
    append(text, offset_t{i} + 1);
    text += ' ';
    append(text, offset_t{j} + 1);
    text += ' ';
    append(text, A.values(k));
    text += '\n';
  }
}

}  // namespace

template <class T>
void write_matrix_market(const std::string& path, const CsrMatrix<T>& A, bool symmetric) {
  require(A.block_size == 1, "write_matrix_market: the matrix must be CSR (block size 1)");
  require(!symmetric || A.rows == A.cols, "write_matrix_market: a symmetric matrix must be square");
  const offset_t entries = symmetric ? entries_below(A) : A.stored();
  std::string head = "%%MatrixMarket matrix coordinate real ";
  head += symmetric ? "symmetric\n" : "general\n";
  for (const offset_t size : {offset_t{A.rows}, offset_t{A.cols}, entries}) {
    append(head, size);
    head += ' ';
  }
  head.back() = '\n';

  constexpr offset_t entries_per_part = 16384;
  const offset_t row_length = A.rows > 0 ? A.stored() / A.rows + 1 : 1;
  const auto rows_per_part =
      static_cast<index_t>(std::max<offset_t>(entries_per_part / row_length, 1));
  write_file_atomically(path, [&](std::ostream& out) {
    const auto sink = detail::text_sink(path, out);
    sink->put(head);
    put_items(*sink, out, A.rows, rows_per_part,
              [&](std::string& text, index_t i) { append_row(text, A, i, symmetric); });
    sink->finish();
  });
}

template <class T>
void write_vector(const std::string& path, const Vector<const T>& x) {
  const index_t n = detail::checked_extent(x.extent(0));
  std::string head = "%%MatrixMarket matrix array real general\n";
  append(head, n);
  head += " 1\n";
  constexpr index_t values_per_part = 16384;
  write_file_atomically(path, [&](std::ostream& out) {
    const auto sink = detail::text_sink(path, out);
    sink->put(head);
    put_items(*sink, out, n, values_per_part, [&](std::string& text, index_t i) {
      append(text, x(i));
      text += '\n';
    });
    sink->finish();
  });
}

template void write_matrix_market(const std::string&, const CsrMatrix<float>&, bool);
template void write_matrix_market(const std::string&, const CsrMatrix<double>&, bool);
template void write_vector(const std::string&, const Vector<const float>&);
template void write_vector(const std::string&, const Vector<const double>&);

}  // namespace cnc
