// Every bad file ends in an error that names file, line and reason, on any window and thread count.

#include "io_support.hpp"
#include "support/catch.hpp"

using namespace cnc;
using namespace cnc::test;

namespace {

struct BadText {
  std::string text;
  std::string message;  // after "test:"
};

void check_all(const std::vector<BadText>& cases) {
  for (const BadText& bad : cases) {
    INFO(bad.text);
    for (const std::size_t window : {1, 7, 40, 4096}) {
      for (const int threads : {1, 2, 3}) {
        detail::ReadOptions options;
        options.window_bytes = window;
        options.chunk_bytes = 4;
        options.threads = threads;
        CHECK(message_of([&] { parse(bad.text, options); }) == "test:" + bad.message);
      }
    }
    CHECK_THROWS_AS(parse(bad.text), IoError);
    CHECK(message_of([&] { parse<float>(bad.text); }) != "nothing");
  }
}

const std::string head = "%%MatrixMarket matrix ";
const std::string range = " is out of range 1..";

}  // namespace

TEST_CASE("bad banners") {
  const std::string words =
      "the banner needs four words after %%MatrixMarket: object, layout, field, symmetry";
  check_all({
      {"", " the file is empty"},
      {"\n", "1: not a Matrix Market file: it does not begin with %%MatrixMarket"},
      {"hello\n", "1: not a Matrix Market file: it does not begin with %%MatrixMarket"},
      {"% MatrixMarket matrix\n",
       "1: not a Matrix Market file: it does not begin with %%MatrixMarket"},
      {head + "coordinate real\n1 1 1\n", "1: " + words},
      {head + "coordinate real general extra\n", "1: " + words},
      {"%%MatrixMarket vector coordinate real general\n",
       "1: object 'vector' is not supported (matrix)"},
      {head + "sparse real general\n", "1: layout 'sparse' is not supported (coordinate, array)"},
      {head + "coordinate complex general\n",
       "1: field 'complex' is not supported (real, integer, pattern)"},
      {head + "coordinate real hermitian\n",
       "1: symmetry 'hermitian' is not supported (general, symmetric, skew-symmetric)"},
      {head + "array pattern general\n",
       "1: an array file cannot be of field pattern: it has no indices"},
      {head + "coordinate pattern skew-symmetric\n",
       "1: a pattern file cannot be skew-symmetric: it has no signs"},
  });
}

TEST_CASE("bad size lines") {
  check_all({
      {real_general, "1: the file ends before the size line"},
      {real_general + "% only\n\n", "3: the file ends before the size line"},
      {real_general + "3 3\n", "2: the size line needs three integers: rows columns entries"},
      {real_general + "3 3 1 1\n", "2: the size line needs three integers: rows columns entries"},
      {head + "array real general\n3\n",
       "2: the size line of an array needs two integers: rows columns"},
      {real_general + "%\n3 x 1\n", "3: size line: columns = 'x' is not an integer"},
      {real_general + "3.0 3 1\n", "2: size line: rows = '3.0' is not an integer"},
      {real_general + "-3 3 1\n", "2: size line: rows = '-3' is negative"},
      {real_general + "3 3 -1\n", "2: size line: entries = '-1' is negative"},
      {real_general + "2147483648 3 1\n",
       "2: size line: rows = '2147483648' is more than 2^31 - 1"},
      {real_general + "3 99999999999999999999999 1\n",
       "2: size line: columns = '99999999999999999999999' is more than 2^31 - 1"},
      {real_symmetric + "3 4 1\n", "2: a symmetric matrix must be square, this one is 3 x 4"},
      {real_symmetric + "1000 1000 1200000000\n",
       "2: more than 2^31 - 1 entries, symmetry expanded: too large for 32-bit row offsets"},
      {head + "array real general\n2147483647 2147483647\n",
       "2: more than 2^31 - 1 entries, symmetry expanded: too large for 32-bit row offsets"},
      {real_general + "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n",
       "2: a second %%MatrixMarket banner"},
  });
}

TEST_CASE("bad indices") {
  check_all({
      {real_general + "2 3 1\n0 1 1\n", "3: row index '0'" + range + "2"},
      {real_general + "2 3 1\n3 1 1\n", "3: row index '3'" + range + "2"},
      {real_general + "2 3 1\n-1 1 1\n", "3: row index '-1'" + range + "2"},
      {real_general + "2 3 2\n1 1 1\n2 4 1\n", "4: column index '4'" + range + "3"},
      {real_general + "2 3 1\n1 4294967297 1\n", "3: column index '4294967297'" + range + "3"},
      {real_general + "2 3 1\n99999999999999999999999999 1 1\n",
       "3: row index '99999999999999999999999999'" + range + "2"},
      {real_general + "2 3 1\nx 1 1\n", "3: expected a row index, found 'x'"},
      {real_general + "2 3 1\n1.0 1 1\n", "3: expected a row index, found '1.0'"},
      {real_general + "2 3 1\n1 - 1\n", "3: expected a column index, found '-'"},
      {real_general + "2 3 1\n1\n", "3: expected a column index, found the end of the line"},
      {real_general + "0 0 1\n1 1 1\n", "3: row index '1'" + range + "0"},
  });
}

TEST_CASE("bad values") {
  const std::string one = real_general + "2 2 2\n1 1 1\n% comment\n\n2 2 ";
  check_all({
      {one + "\n", "6: expected a number, found the end of the line"},
      {one + "abc\n", "6: expected a number, found 'abc'"},
      {one + "1.5x\n", "6: expected a number, found '1.5x'"},
      {one + "1e\n", "6: expected a number, found '1e'"},
      {one + "+-1\n", "6: expected a number, found '+-1'"},
      {one + "--1\n", "6: expected a number, found '--1'"},
      {one + ".\n", "6: expected a number, found '.'"},
      {one + "1,5\n", "6: expected a number, found '1,5'"},
      {one + "0x10\n", "6: expected a number, found '0x10'"},
      {one + "nan\n", "6: the value 'nan' is not finite"},
      {one + "-Inf\n", "6: the value '-Inf' is not finite"},
      {one + "Infinity\n", "6: the value 'Infinity' is not finite"},
      {one + "1 2\n", "6: unexpected text after the entry: '2'"},
      {one + "1 % note\n", "6: unexpected text after the entry: '%'"},
      {head + "coordinate integer general\n1 1 1\n1 1 1.5\n",
       "3: expected an integer value, found '1.5'"},
      {head + "coordinate integer general\n1 1 1\n1 1 1e3\n",
       "3: expected an integer value, found '1e3'"},
      {head + "coordinate integer general\n1 1 1\n1 1 NaN\n", "3: the value 'NaN' is not finite"},
      {head + "coordinate pattern general\n2 2 1\n1 1 1\n",
       "3: unexpected text after the entry: '1'"},
      {head + "array real general\n2 1\n1\nx\n", "4: expected a number, found 'x'"},
      {head + "array real general\n2 1\n1 2\n", "3: unexpected text after the entry: '2'"},
  });
  CHECK(message_of([&] { parse(one + "1e400\n"); }) ==
        "test:6: the value '1e400' is too large for double");
  CHECK(message_of([&] { parse<float>(one + "-1e39\n"); }) ==
        "test:6: the value '-1e39' is too large for float");
  CHECK(message_of([&] { parse(one + std::string(60, '9') + "x\n"); }) ==
        "test:6: expected a number, found '" + std::string(40, '9') + "...'");
  CHECK(message_of([&] { parse(one + std::string("\0\x01z\n", 4)); }) ==
        "test:6: expected a number, found '??z'");
}

TEST_CASE("wrong numbers of entries") {
  const std::string two = real_general + "2 2 2\n1 1 1\n";
  check_all({
      {real_general + "2 2 2\n", "2: the file ends after 0 of 2 entries"},
      {two, "3: the file ends after 1 of 2 entries"},
      {two + "\n% end", "5: the file ends after 1 of 2 entries"},
      {two + "2 2 2\n% fine\n\n1 2 3\n", "7: more entries than the 2 of the size line"},
      {two + "2 2 2\n1 2 3\nrubbish\n", "5: more entries than the 2 of the size line"},
      {two + "rubbish\n1 2 3\n1 2 3\n", "4: expected a row index, found 'rubbish'"},
      {real_general + "2 2 2\n2 2 2\n1 1 1\n2 2 2\n",
       "5: more entries than the 2 of the size line"},
      {two + head + "coordinate real general\n", "4: a second %%MatrixMarket banner"},
      {two + "2 2 2\n  " + head + "coordinate real general\n", "5: a second %%MatrixMarket banner"},
      {head + "array real general\n2 2\n1\n2\n3\n", "5: the file ends after 3 of 4 entries"},
      {head + "array real general\n1 2\n1\n2\n3\n", "5: more entries than the 2 of the size line"},
      {head + "array real symmetric\n2 2\n1\n2\n3\n4\n",
       "6: more entries than the 3 of the size line"},
      {head + "array real general\n0 2\n1\n", "3: more entries than the 0 of the size line"},
  });
}

TEST_CASE("files that are not as symmetric as they say") {
  const std::string mixed =
      "entries on both sides of the diagonal: a symmetric file holds one triangle only";
  check_all({
      {real_symmetric + "3 3 4\n1 1 1\n2 1 1\n3 3 1\n1 2 1\n", "6: " + mixed},
      {real_symmetric + "3 3 3\n1 2 1\n% c\n2 1 1\nx\n", "5: " + mixed},
      {real_symmetric + "3 3 2\n1 2 1\n1 3 1\n3 1 1\n", "5: " + mixed},
      {head + "coordinate real skew-symmetric\n2 2 2\n2 1 1\n2 2 1\n",
       "4: a nonzero on the diagonal of a skew-symmetric matrix"},
  });
}

TEST_CASE("sums that overflow are refused") {
  CHECK(message_of([] { parse(real_general + "1 2 3\n1 2 1e308\n1 1 0\n1 2 1e308\n"); }) ==
        "test: value 2 of 2 stored is not finite");
}

TEST_CASE("lines without end are refused before they fill the memory") {
  const std::string text(std::size_t{3} << 20, ' ');
  detail::ReadOptions options;
  options.window_bytes = 64;
  CHECK(message_of([&] { parse(real_general + text, options); }) ==
        "test:2: the line is longer than 1048576 bytes");
}

TEST_CASE("hostile sizes allocate nothing") {
  CHECK(message_of([] { parse(real_general + "2000000000 2000000000 2000000000\n1 1 1\n"); }) ==
        "test:3: the file ends after 1 of 2000000000 entries");
  CHECK(message_of([] { parse(head + "array real general\n40000 40000\n1\n"); }) ==
        "test:3: the file ends after 1 of 1600000000 entries");
  detail::ReadOptions options;
  options.memory_limit = std::size_t{1} << 20;
  CHECK_THROWS_AS(parse(real_general + "2000000000 1 0\n", options), OutOfMemory);
  CHECK_THROWS_AS(detail::read_vector_from<double>(
                      detail::open_memory(real_general + "2000000000 1 0\n"), "test", options),
                  OutOfMemory);
}

TEST_CASE("entries are counted against the limit while they come") {
  constexpr int entries = 1000000;
  std::string text = real_general + "5 5 " + std::to_string(entries) + "\n";
  for (int k = 0; k < entries; ++k) text += "1 1 1\n";
  detail::ReadOptions options;
  options.memory_limit = std::size_t{2} << 20;
  options.window_bytes = std::size_t{1} << 16;
  try {
    parse(text, options);
    FAIL("was read");
  } catch (const OutOfMemory& error) {
    CHECK(error.bytes_asked() < 2 * options.memory_limit);  // not when all have been read
    CHECK(error.bytes_free() == options.memory_limit);
  }
  options.memory_limit = std::size_t{64} << 20;
  CHECK(parse(text, options).stored() == 1);
}

TEST_CASE("files that cannot be opened") {
  const TemporaryDirectory directory;
  const std::string missing = directory.file("missing.mtx");
  CHECK(message_of([&] { read_matrix<double>(missing); }) ==
        missing + ": cannot open: No such file or directory");
  CHECK(message_of([&] { read_vector<double>(missing); }) ==
        missing + ": cannot open: No such file or directory");
  CHECK(message_of([&] { read_matrix_market_header(missing); }) ==
        missing + ": cannot open: No such file or directory");
  const std::string folder = directory.file("");
  CHECK(message_of([&] { read_matrix<double>(folder); }) == folder + ": is a directory");
  const std::string empty = directory.file("empty.mtx");
  write_text(empty, "");
  CHECK(message_of([&] { read_matrix<double>(empty); }) == empty + ": the file is empty");
  try {
    read_matrix<double>(missing);
  } catch (const IoError& error) {
    CHECK(error.file() == missing);
    CHECK(error.line() == 0);
  }
}
