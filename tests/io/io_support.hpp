#pragma once

#include <cnc/io.hpp>

#include "io/byte_source.hpp"
#include "io/entry_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

namespace cnc::test {

/// A directory of its own for a test case, gone at the end of it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "cnc-io-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("cannot make a temporary directory");
    }
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Parses text in memory, gzip or cache included.
template <class T = double>
CsrMatrix<T> parse(const std::string& bytes, const detail::ReadOptions& options = {}) {
  return detail::read_matrix_from<T>(detail::open_memory(bytes), "test", options);
}

/// What an action throws, as text; "nothing" if it does not throw.
template <class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

/// Row-major dense copy, so that expected results can be written down.
template <class T>
std::vector<T> dense(const CsrMatrix<T>& A) {
  std::vector<T> result(static_cast<std::size_t>(A.rows) * static_cast<std::size_t>(A.cols), T{0});
  for (index_t i = 0; i < A.rows; ++i) {
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k) {
      result[static_cast<std::size_t>(i) * static_cast<std::size_t>(A.cols) +
             static_cast<std::size_t>(A.columns(k))] += A.values(k);
    }
  }
  return result;
}

template <class View>
bool same_bits(const View& a, const View& b) {
  return a.extent(0) == b.extent(0) &&
         (a.extent(0) == 0 ||
          std::memcmp(a.data(), b.data(), a.extent(0) * sizeof(typename View::value_type)) == 0);
}

template <class T>
bool same(const CsrMatrix<T>& a, const CsrMatrix<T>& b) {
  return a.rows == b.rows && a.cols == b.cols && same_bits(a.row_offsets, b.row_offsets) &&
         same_bits(a.columns, b.columns) && same_bits(a.values, b.values);
}

/// A matrix of random pattern and values of very different sizes, with an empty and a full row.
template <class T>
CsrMatrix<T> random_matrix(index_t rows, index_t cols, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> value(-1, 1);
  std::uniform_int_distribution<int> exponent(-30, 30);
  std::vector<index_t> offsets{0};
  std::vector<index_t> columns;
  std::vector<T> values;
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j) {
      const bool stored = i == rows / 2 || (i != rows / 3 && random() % 5 == 0);
      if (stored) {
        columns.push_back(j);
        values.push_back(std::ldexp(value(random), exponent(random)));
      }
    }
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  const auto copy = [](const auto& from) {
    const Vector<typename std::decay_t<decltype(from)>::value_type> to("copy", from.size());
    std::copy(from.begin(), from.end(), to.data());
    return to;
  };
  return {rows, cols, 1, copy(offsets), copy(columns), copy(values)};
}

inline const std::string real_general = "%%MatrixMarket matrix coordinate real general\n";
inline const std::string real_symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";

}  // namespace cnc::test
