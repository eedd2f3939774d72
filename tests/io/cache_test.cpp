#include "io_support.hpp"
#include "support/catch.hpp"
#include "support/forged_cache.hpp"

#include <cstddef>
#include <limits>

using namespace cnc;
using namespace cnc::test;
using cnc::testing::forged;

namespace {

template <class T>
std::string cache_of(const CsrMatrix<T>& A) {
  const TemporaryDirectory directory;
  write_cache(directory.file("a.cnc"), A);
  return read_text(directory.file("a.cnc"));
}

std::string refusal(const std::string& bytes) {
  return message_of([&] { parse(bytes); });
}

}  // namespace

TEMPLATE_TEST_CASE("a cached matrix comes back with the same bits", "", float, double) {
  for (const auto& A : {random_matrix<TestType>(50, 31, 1), random_matrix<TestType>(1, 1, 2),
                        random_matrix<TestType>(7, 0, 3), random_matrix<TestType>(0, 7, 4)}) {
    CHECK(same(parse<TestType>(cache_of(A)), A));
  }
  CHECK(parse<TestType>(cache_of(CsrMatrix<TestType>())).rows == 0);
}

TEST_CASE("a cache is read in the other precision") {
  const auto A = random_matrix<double>(20, 20, 6);
  const auto narrow = parse<float>(cache_of(A));
  REQUIRE(narrow.stored() == A.stored());
  for (index_t k = 0; k < A.stored(); ++k) {
    CHECK(narrow.values(k) == static_cast<float>(A.values(k)));
  }
  const auto wide = parse<double>(cache_of(narrow));
  CHECK(dense(wide) == [&] {
    const auto values = dense(narrow);
    return std::vector<double>(values.begin(), values.end());
  }());
  const std::string huge = cache_of(parse(real_general + "1 1 1\n1 1 1e300\n"));
  CHECK(message_of([&] { parse<float>(huge); }) == "test: value 1 of 1 stored is not finite");
}

TEST_CASE("cached vectors") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("x.cnc");
  const Vector<double> x("x", 5);
  x(3) = 0.1;
  write_cache<double>(path, x);
  CHECK(same_bits(read_vector<double>(path), x));
  CHECK(read_vector<float>(path)(3) == 0.1f);
  CHECK(message_of([&] { read_matrix<double>(path); }) ==
        path + ": the binary cache holds a vector, not a matrix");
  write_cache(path, random_matrix<float>(5, 1, 7));
  CHECK(message_of([&] { read_vector<float>(path); }) ==
        path + ": the binary cache holds a matrix, not a vector");
  const Vector<float> empty("empty", 0);
  write_cache<float>(path, empty);
  CHECK(read_vector<float>(path).extent(0) == 0);
}

TEST_CASE("a cache damaged in any byte is refused") {
  const std::string bytes = cache_of(random_matrix<double>(9, 8, 8));
  REQUIRE(bytes.size() < 1000);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x80}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      CHECK_THROWS_AS(parse(damaged), IoError);
    }
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_THROWS_AS(parse(bytes.substr(0, size)), IoError);
  }
  CHECK_THROWS_AS(parse(bytes + "x"), IoError);
}

TEST_CASE("a cache is refused with the reason") {
  using Header = detail::CacheHeader;
  const std::string bytes = cache_of(random_matrix<double>(9, 8, 8));
  std::string damaged = bytes;
  damaged.back() ^= 1;
  CHECK(refusal(damaged) ==
        "test: the checksum of the binary cache does not match: the file is damaged");
  CHECK(refusal(bytes.substr(0, 20)) ==
        "test: the binary cache is truncated: its header is not whole");
  CHECK(refusal(bytes.substr(0, bytes.size() - 1)).find(": it is truncated") != std::string::npos);
  CHECK(refusal(bytes + "x").find("something was appended") != std::string::npos);
  CHECK(refusal(forged(bytes, offsetof(Header, version), 2u)) ==
        "test: the binary cache has version 2, this program reads version 1");
  CHECK(refusal(forged(bytes, offsetof(Header, byte_order), 0x04030201u)) ==
        "test: the binary cache is damaged or was written by a machine of the other byte order");
  CHECK(refusal(forged(bytes, offsetof(Header, kind), 9u)) ==
        "test: the binary cache holds neither a matrix nor a vector");
  CHECK(refusal(forged(bytes, offsetof(Header, value_bytes), 16u)) ==
        "test: the binary cache has values of 16 bytes");
}

TEST_CASE("hostile caches with a right checksum are refused") {
  using Header = detail::CacheHeader;
  const std::string bytes = cache_of(parse(real_general + "2 2 3\n1 1 1\n1 2 2\n2 2 3\n"));
  const std::size_t offsets = sizeof(Header);
  const std::size_t columns = offsets + 3 * sizeof(index_t);
  const std::size_t values = columns + 3 * sizeof(index_t);
  const auto largest = std::numeric_limits<offset_t>::max();
  CHECK(parse(forged(bytes, columns, 0)).stored() == 3);
  for (const offset_t size : {offset_t{-1}, offset_t{2147483647}, largest, -largest}) {
    CHECK_THROWS_AS(parse(forged(bytes, offsetof(Header, rows), size)), IoError);
    CHECK_THROWS_AS(parse(forged(bytes, offsetof(Header, entries), size)), IoError);
  }
  CHECK_THROWS_AS(parse(forged(bytes, offsetof(Header, cols), offset_t{-1})), IoError);
  CHECK_THROWS_AS(parse(forged(bytes, offsetof(Header, cols), offset_t{1})), IoError);
  for (const index_t wrong : {-1, 2, 3, 2147483647}) {
    CHECK_THROWS_AS(parse(forged(bytes, columns, wrong)), IoError);
    CHECK_THROWS_AS(parse(forged(bytes, offsets, wrong)), IoError);
  }
  for (const index_t wrong : {-1, 4, 2147483647}) {
    CHECK_THROWS_AS(parse(forged(bytes, offsets + sizeof(index_t), wrong)), IoError);
  }
  CHECK_THROWS_AS(parse(forged(bytes, columns + sizeof(index_t), 0)), IoError);  // twice the same
  CHECK_THROWS_AS(parse(forged(bytes, values, std::numeric_limits<double>::quiet_NaN())), IoError);
}

TEST_CASE("a compressed cache is refused") {
  // gzip of a cache's first bytes (stored block, no compression).
  const std::string magic(detail::cache_magic);
  std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x08\0\xf7\xff", 15);
  packed += magic;
  CHECK(refusal(packed) ==
        "test: a binary cache must be a plain file: it cannot be compressed or piped");
}
