#include "io_support.hpp"
#include "support/catch.hpp"

using namespace cnc;
using namespace cnc::test;
using Values = std::vector<double>;

TEST_CASE("coordinate files of every field and symmetry") {
  const std::string head = "%%MatrixMarket matrix coordinate ";
  CHECK(dense(parse(head + "real general\n2 3 3\n1 1 1.5\n2 3 -2e-1\n1 2 .25\n")) ==
        Values{1.5, 0.25, 0, 0, 0, -0.2});
  CHECK(dense(parse(head + "integer general\n2 2 2\n1 2 7\n2 1 -3\n")) == Values{0, 7, -3, 0});
  CHECK(dense(parse(head + "pattern general\n2 2 2\n1 2\n2 1\n")) == Values{0, 1, 1, 0});
  CHECK(dense(parse(head + "real symmetric\n2 2 2\n1 1 4\n2 1 -1\n")) == Values{4, -1, -1, 0});
  CHECK(dense(parse(head + "integer symmetric\n2 2 2\n2 2 4\n2 1 5\n")) == Values{0, 5, 5, 4});
  CHECK(dense(parse(head + "pattern symmetric\n2 2 2\n2 2\n2 1\n")) == Values{0, 1, 1, 1});
  CHECK(dense(parse(head + "real skew-symmetric\n3 3 2\n2 1 4\n3 2 -1\n")) ==
        Values{0, -4, 0, 4, 0, 1, 0, -1, 0});
  CHECK(dense(parse(head + "integer skew-symmetric\n2 2 2\n2 1 4\n1 1 0\n")) ==
        Values{0, -4, 4, 0});
}

TEST_CASE("array files run down the columns and keep zeros out") {
  const std::string head = "%%MatrixMarket matrix array ";
  const auto A = parse(head + "real general\n2 3\n1\n0\n3\n4\n0\n6\n");
  CHECK(dense(A) == Values{1, 3, 0, 0, 4, 6});
  CHECK(A.stored() == 4);
  CHECK(dense(parse(head + "integer general\n2 1\n-1\n2\n")) == Values{-1, 2});
  CHECK(dense(parse(head + "real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n")) ==
        Values{1, 2, 3, 2, 4, 5, 3, 5, 6});
  CHECK(dense(parse(head + "real skew-symmetric\n3 3\n2\n3\n5\n")) ==
        Values{0, -2, -3, 2, 0, -5, 3, 5, 0});
  CHECK(parse(head + "real skew-symmetric\n1 1\n").stored() == 0);
}

TEST_CASE("symmetric files may hold the upper triangle instead") {
  CHECK(dense(parse(real_symmetric + "2 2 2\n1 2 3\n2 2 1\n")) == Values{0, 3, 3, 1});
  CHECK(dense(parse("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 2 3\n")) ==
        Values{0, 3, -3, 0});
}

TEST_CASE("spacing, comments, case and line ends are free") {
  const Values expected{1, 0, 0, 2};
  CHECK(dense(parse("%%matrixmarket MATRIX Coordinate REAL General\n2 2 2\n1 1 1\n2 2 2\n")) ==
        expected);
  CHECK(dense(parse(
            "%%MatrixMarket matrix coordinate real general\r\n2 2 2\r\n1 1 1\r\n2 2 2\r\n")) ==
        expected);
  CHECK(dense(parse(real_general +
                    "% comment\n\n%\n  2\t2  2 \n\n 1 1\t1 \n% in between\n\n2 2 2")) == expected);
  CHECK(dense(parse(real_general + "2 2 2\n+1 1 +1\n02 002 2.\n\n\n  \n% the end")) == expected);
  CHECK(dense(parse(real_general + "2 2 2\n2 2 2\n1 1 1")) == expected);
}

TEST_CASE("rows come out sorted and entries at the same place are summed in order") {
  const auto A =
      parse(real_general + "2 4 7\n1 4 4\n1 1 1e16\n2 2 1\n1 1 1\n1 3 3\n1 1 -1e16\n1 2 2\n");
  REQUIRE(A.stored() == 5);
  CHECK(dense(A) == Values{(1e16 + 1) - 1e16, 2, 3, 4, 0, 1, 0, 0});
  for (index_t k = 1; k < 4; ++k) {
    CHECK(A.columns(k - 1) < A.columns(k));
  }
  const auto S = parse(real_symmetric + "2 2 3\n2 1 1\n1 1 5\n2 1 2\n");
  CHECK(S.stored() == 3);
  CHECK(dense(S) == Values{5, 3, 3, 0});
}

TEST_CASE("empty shapes") {
  for (const std::string sizes : {"0 0 0", "3 0 0", "0 4 0", "3 4 0"}) {
    const auto A = parse(real_general + sizes + "\n");
    CHECK(A.stored() == 0);
    CHECK(A.rows == sizes[0] - '0');
    CHECK(A.cols == sizes[2] - '0');
    A.validate();
  }
  CHECK(parse(real_symmetric + "0 0 0").stored() == 0);
  CHECK(parse("%%MatrixMarket matrix array real general\n0 5\n").cols == 5);
  CHECK(parse("%%MatrixMarket matrix array real symmetric\n0 0\n").rows == 0);
  CHECK(dense(parse(real_general + "1 1 1\n1 1 -3\n")) == Values{-3});
}

TEST_CASE("values are rounded correctly in each precision and may underflow") {
  const std::string text =
      real_general + "1 4 4\n1 1 0.1\n1 2 1e-400\n1 3 16777217\n1 4 4.9e-324\n";
  CHECK(dense(parse<double>(text)) == Values{0.1, 0, 16777217, 4.9e-324});
  CHECK(dense(parse<float>(text)) == std::vector<float>{0.1f, 0, 16777216, 0});
  CHECK(parse(text).stored() == 4);  // coordinate files keep explicit zeros
}

TEST_CASE("parse_matrix_market and read_matrix agree; the header can be read alone") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.mtx");
  const std::string text =
      "%%MatrixMarket matrix coordinate pattern symmetric\n%\n3 3 2\n2 1\n3 3\n";
  write_text(path, text);
  CHECK(same(read_matrix<double>(path), parse_matrix_market<double>(text, "text")));
  CHECK(dense(read_matrix<float>(path)) == dense(parse_matrix_market<float>(text, "text")));

  const MatrixMarketHeader header = read_matrix_market_header(path);
  CHECK(header.layout == MatrixMarketHeader::Layout::coordinate);
  CHECK(header.field == MatrixMarketHeader::Field::pattern);
  CHECK(header.symmetry == MatrixMarketHeader::Symmetry::symmetric);
  CHECK(header.rows == 3);
  CHECK(header.cols == 3);
  CHECK(header.entries == 2);
  write_text(path, "%%MatrixMarket matrix array integer skew-symmetric\n4 4\n");
  CHECK(read_matrix_market_header(path).entries == 6);
}
