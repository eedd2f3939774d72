#include <assemble/build_csr.hpp>
#include <cnc/triplets.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace cnc {
namespace {

template <class T>
void check_indices(index_t rows, index_t cols, std::span<const Triplet<T>> entries) {
  const auto n = static_cast<offset_t>(entries.size());
  const int parts = detail::threads_for(n);
  std::vector<offset_t> first_fault(static_cast<std::size_t>(parts), n);
  detail::parallel_ranges(n, parts, [&](offset_t begin, offset_t end, int part) {
    for (offset_t k = begin; k < end; ++k) {
      const Triplet<T>& entry = entries[static_cast<std::size_t>(k)];
      if (entry.row < 0 || entry.row >= rows || entry.col < 0 || entry.col >= cols) {
        first_fault[static_cast<std::size_t>(part)] = k;
        return;
      }
    }
  });
  const offset_t k = *std::min_element(first_fault.begin(), first_fault.end());
  require(k == n, [&] {
    const Triplet<T>& entry = entries[static_cast<std::size_t>(k)];
    return "csr_from_triplets: entry " + std::to_string(k) + " is at row " +
           std::to_string(entry.row) + ", column " + std::to_string(entry.col) + " of a " +
           std::to_string(rows) + " x " + std::to_string(cols) + " matrix (indices from 0)";
  });
}

/// The entries' numbers sorted by row: those of row i are order[starts[i] .. starts[i + 1]).
struct RowOrder {
  std::vector<offset_t> starts;
  std::unique_ptr<offset_t[]> order;
};

template <class T>
RowOrder sort_by_row(index_t rows, std::span<const Triplet<T>> entries) {
  const auto n = static_cast<offset_t>(entries.size());
  RowOrder result;
  // While the entries are being placed, starts[i + 2] is the next free place of row i.
  std::vector<offset_t>& starts = result.starts;
  starts.assign(static_cast<std::size_t>(rows) + 2, 0);
  detail::parallel_for(n, [&](offset_t k) {
    offset_t& length =
        starts[static_cast<std::size_t>(entries[static_cast<std::size_t>(k)].row) + 2];
#pragma omp atomic
    ++length;
  });
  for (std::size_t i = 2; i < starts.size(); ++i) {
    starts[i] += starts[i - 1];
  }
  result.order.reset(new offset_t[static_cast<std::size_t>(n)]);
  detail::parallel_for(n, [&](offset_t k) {
    offset_t& next = starts[static_cast<std::size_t>(entries[static_cast<std::size_t>(k)].row) + 1];
    offset_t place = 0;
#pragma omp atomic capture
    place = next++;
    result.order[static_cast<std::size_t>(place)] = k;
  });
  return result;
}

}  // namespace

template <class T>
CsrMatrix<T> csr_from_triplets(index_t rows, index_t cols, std::span<const Triplet<T>> entries) {
  require(rows >= 0 && cols >= 0, "csr_from_triplets: rows and cols must not be negative");
  check_indices(rows, cols, entries);
  const RowOrder sorted = sort_by_row(rows, entries);
  const auto column = [&](offset_t k) { return entries[static_cast<std::size_t>(k)].col; };

  // Threads place entries in any order, so the entry number is part of the key: it restores the order
  // given among entries at the same place, and with it the rounding of their sum.
  const auto sort_and_count = [&](index_t row) {
    offset_t* const begin = sorted.order.get() + sorted.starts[static_cast<std::size_t>(row)];
    offset_t* const end = sorted.order.get() + sorted.starts[static_cast<std::size_t>(row) + 1];
    const auto before = [&](offset_t a, offset_t b) {
      return column(a) != column(b) ? column(a) < column(b) : a < b;
    };
    // Callers often assemble row by row in order; a check is far cheaper than a sort for nothing.
    if (!std::is_sorted(begin, end, before)) {
      std::sort(begin, end, before);
    }
    index_t distinct = 0;
    for (const offset_t* k = begin; k != end; ++k) {
      distinct += k == begin || column(k[-1]) != column(*k);
    }
    return distinct;
  };
  const auto fill = [&](index_t row, index_t* columns, T* values) {
    const offset_t* const begin = sorted.order.get() + sorted.starts[static_cast<std::size_t>(row)];
    const offset_t* const end =
        sorted.order.get() + sorted.starts[static_cast<std::size_t>(row) + 1];
    index_t last = -1;
    for (const offset_t* k = begin; k != end; ++k) {
      const T value = entries[static_cast<std::size_t>(*k)].value;
      if (k == begin || columns[last] != column(*k)) {
        ++last;
        columns[last] = column(*k);
        values[last] = value;
      } else {
        values[last] += value;
      }
    }
  };
  return detail::build_csr<T>(rows, cols, "csr_from_triplets", sort_and_count, fill);
}

template CsrMatrix<float> csr_from_triplets(index_t, index_t, std::span<const Triplet<float>>);
template CsrMatrix<double> csr_from_triplets(index_t, index_t, std::span<const Triplet<double>>);

}  // namespace cnc
