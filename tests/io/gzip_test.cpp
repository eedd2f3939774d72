#include "io_support.hpp"
#include "support/catch.hpp"

using namespace cnc;
using namespace cnc::test;

namespace {

/// A .gz file and its bytes, made by the writer.
std::string packed_example() {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.mtx.gz");
  write_matrix_market(path, random_matrix<double>(40, 30, 5));
  return read_text(path);
}

}  // namespace

TEST_CASE("compressed files are told by their first bytes, not by their name") {
  const TemporaryDirectory directory;
  const auto A = random_matrix<double>(40, 30, 5);
  const std::string packed = directory.file("a.mtx.gz");
  write_matrix_market(packed, A);
  CHECK(same(read_matrix<double>(packed), A));
  CHECK(read_matrix_market_header(packed).entries == A.stored());

  const std::string misnamed = directory.file("a.mtx");
  std::filesystem::copy_file(packed, misnamed);
  CHECK(same(read_matrix<double>(misnamed), A));
  const std::string plain = directory.file("plain.gz");
  write_text(plain, real_general + "1 1 1\n1 1 2\n");
  CHECK(read_matrix<double>(plain).values(0) == 2);
}

TEST_CASE("windows over compressed text") {
  const std::string bytes = packed_example();
  const auto expected = parse(bytes);
  for (const std::size_t window : {1, 50, 333}) {
    detail::ReadOptions options;
    options.window_bytes = window;
    options.chunk_bytes = 16;
    options.threads = 3;
    CHECK(same(parse(bytes, options), expected));
  }
}

TEST_CASE("several members follow one another, and zeros may follow the last") {
  const TemporaryDirectory directory;
  const Vector<double> x("x", 2);
  x(0) = 1.5;
  x(1) = -2;
  const std::string path = directory.file("x.gz");
  write_vector<double>(path, x);
  const std::string member = read_text(path);
  write_text(path, member + std::string(700, '\0'));
  CHECK(read_vector<double>(path)(1) == -2);
  // The second member brings a second banner: it was read.
  CHECK(message_of([&] { parse(member + member); }) == "test:5: a second %%MatrixMarket banner");
  CHECK(message_of([&] { parse(member + "rubbish"); }) ==
        "test: the compressed data is damaged: incorrect header check");
}

TEST_CASE("a truncated compressed file is an error wherever it was cut") {
  const std::string bytes = packed_example();
  for (std::size_t size = 2; size < bytes.size(); ++size) {
    const std::string message = message_of([&] { parse(bytes.substr(0, size)); });
    CHECK(message == "test: the compressed data ends early: the file is truncated");
  }
}

TEST_CASE("a damaged compressed file never gives a matrix") {
  const std::string bytes = packed_example();
  // Bytes 3 to 9 are flags and time stamp, which gzip does not protect.
  for (std::size_t at = 10; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    CHECK_THROWS_AS(parse(damaged), IoError);
  }
}
