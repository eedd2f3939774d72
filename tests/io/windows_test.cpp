// The result is the same bits for every window size and number of threads.

#include "io_support.hpp"
#include "support/catch.hpp"

#include "io/text_reader.hpp"

using namespace cnc;
using namespace cnc::test;

namespace {

std::string shuffled_text(bool array, const std::string& symmetry, unsigned seed) {
  std::mt19937 random(seed);
  constexpr index_t n = 23;
  std::vector<std::string> lines;
  for (index_t j = 1; j <= n; ++j) {
    const index_t first = symmetry == "general" ? 1 : symmetry == "symmetric" ? j : j + 1;
    for (index_t i = first; i <= n; ++i) {
      const std::string value = std::to_string(static_cast<int>(random() % 2001) - 1000) + ".5e-3";
      if (array) {
        lines.push_back(random() % 3 == 0 ? "0" : value);
      } else if (random() % 4 == 0) {
        lines.push_back(std::to_string(i) + " " + std::to_string(j) + " " + value);
        if (random() % 3 == 0) {
          lines.push_back(lines.back() + "1");  // a second entry at the same place
        }
      }
    }
  }
  if (!array) {
    std::shuffle(lines.begin(), lines.end(), random);
  }
  std::string text = "%%MatrixMarket matrix " + std::string(array ? "array" : "coordinate") +
                     " real " + symmetry + "\n23 23" +
                     (array ? "" : " " + std::to_string(lines.size())) + "\n";
  for (const std::string& line : lines) {
    text += (random() % 7 == 0 ? "% a comment of some length\n\n" : "") + line +
            (random() % 5 == 0 ? " \r\n" : "\n");
  }
  return text;
}

}  // namespace

TEST_CASE("windows and threads do not change the matrix") {
  for (const std::string symmetry : {"general", "symmetric", "skew-symmetric"}) {
    for (const bool array : {false, true}) {
      const std::string text = shuffled_text(array, symmetry, array ? 3 : 4);
      detail::ReadOptions options;
      options.threads = 1;
      const auto expected = parse(text, options);
      expected.validate();
      REQUIRE(expected.stored() > 100);
      for (const std::size_t window : {1, 2, 3, 17, 64, 100, 1000, 100000}) {
        for (const int threads : {1, 2, 3}) {
          INFO(symmetry << " array " << array << " window " << window << " threads " << threads);
          options.window_bytes = window;
          options.chunk_bytes = 8;
          options.threads = threads;
          CHECK(same(parse(text, options), expected));
        }
      }
    }
  }
}

TEST_CASE("large rows and columns are sorted and scattered by several threads alike") {
  std::mt19937 random(7);
  constexpr int entries = 20000;
  std::string text = real_general + "3000 3000 " + std::to_string(entries) + "\n";
  for (int k = 0; k < entries; ++k) {
    const auto row = k % 3 == 0 ? 17 : random() % 3000 + 1;  // one dense row, with duplicates
    text += std::to_string(row) + " " + std::to_string(random() % 3000 + 1) + " 0." +
            std::to_string(random() % 100000) + "\n";
  }
  detail::ReadOptions options;
  options.threads = 1;
  const auto expected = parse(text, options);
  expected.validate();
  CHECK(expected.stored() < entries);
  for (const int threads : {2, 3}) {
    options.threads = threads;
    options.window_bytes = 10000;
    CHECK(same(parse(text, options), expected));
  }
}

TEST_CASE("the text reader hands out every line once") {
  const std::string text = "one\n\ntwo is longer\nthree\nand the last has no end";
  for (std::size_t window = 1; window < text.size() + 3; ++window) {
    const auto source = detail::open_memory(text);
    detail::TextReader reader(*source, "test", window);
    std::string_view line;
    REQUIRE(reader.next_line(line));
    CHECK(line == "one");
    std::string rest;
    for (auto part = reader.next_window(); !part.empty(); part = reader.next_window()) {
      CHECK(part.back() == '\n');
      rest += part;
    }
    CHECK(rest == text.substr(4) + "\n");
    CHECK(!reader.next_line(line));
  }
}

TEST_CASE("peeking takes nothing") {
  const auto source = detail::open_memory("abcdef");
  CHECK(source->peek(2) == "ab");
  CHECK(source->peek(4) == "abcd");
  char text[8] = {};
  CHECK(source->read(text, 3) == 3);
  CHECK(std::string(text, 3) == "abc");
  CHECK(source->peek(9) == "def");
  CHECK(source->read(text, 8) == 3);
  CHECK(source->peek(1).empty());
}
