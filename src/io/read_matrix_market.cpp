#include "io/check_finite.hpp"
#include "io/csr_from_pieces.hpp"
#include "io/entry_reader.hpp"
#include "io/memory_limit.hpp"

#include <algorithm>

namespace cnc::detail {

template <class T>
CsrMatrix<T> read_matrix_market(ByteSource& source, const std::string& name,
                                const ReadOptions& options) {
  MatrixMarketEntries<T> file = read_entries<T>(source, name, options);
  return csr_from_pieces(name, file.header, std::move(file.pieces), options);
}

template <class T>
Vector<T> read_vector_market(ByteSource& source, const std::string& name,
                             const ReadOptions& options) {
  const auto one_column = [](const MatrixMarketHeader& header, const std::string& file) {
    if (header.cols != 1) {
      throw IoError(file, 0,
                    "a vector has one column, this file has " + std::to_string(header.cols));
    }
  };
  const MatrixMarketEntries<T> file = read_entries<T>(source, name, options, one_column);
  const auto n = static_cast<std::size_t>(file.header.rows);
  double held = 0;
  for (const EntryPiece<T>& piece : file.pieces)
    held += static_cast<double>(piece.count) * EntryPiece<T>::entry_bytes;
  check_memory(name, held, static_cast<double>(n) * sizeof(T), options);
  Vector<T> x = uninitialized<T>(name, n);
  std::fill_n(x.data(), n, T{0});
  for (const EntryPiece<T>& piece : file.pieces) {
    for (std::size_t k = 0; k < piece.count; ++k) {
      x.data()[piece.rows[k]] += piece.values ? piece.values[k] : T{1};
    }
  }
  check_finite(name, x);
  return x;
}

template CsrMatrix<float> read_matrix_market(ByteSource&, const std::string&, const ReadOptions&);
template CsrMatrix<double> read_matrix_market(ByteSource&, const std::string&, const ReadOptions&);
template Vector<float> read_vector_market(ByteSource&, const std::string&, const ReadOptions&);
template Vector<double> read_vector_market(ByteSource&, const std::string&, const ReadOptions&);

}  // namespace cnc::detail
