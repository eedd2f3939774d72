#include "io_support.hpp"
#include "support/catch.hpp"

#include <limits>
#include <ostream>

#include <sys/stat.h>

using namespace cnc;
using namespace cnc::test;

TEMPLATE_TEST_CASE("a written matrix reads back with the same bits", "", float, double) {
  const TemporaryDirectory directory;
  for (const char* name : {"a.mtx", "a.mtx.gz"}) {
    const std::string path = directory.file(name);
    for (const auto& A : {random_matrix<TestType>(60, 45, 1), random_matrix<TestType>(1, 1, 2),
                          random_matrix<TestType>(5, 0, 3), random_matrix<TestType>(0, 5, 3)}) {
      write_matrix_market(path, A);
      CHECK(same(read_matrix<TestType>(path), A));
    }
  }
}

TEST_CASE("extreme values keep every bit") {
  const TemporaryDirectory directory;
  using Limits = std::numeric_limits<double>;
  const Vector<double> x("x", 8);
  const double values[] = {Limits::max(), -Limits::min(), Limits::denorm_min(), -0.0, 0.1,
                           1.0 / 3.0,     1e22,           123456789012345678.0};
  std::copy(std::begin(values), std::end(values), x.data());
  const Vector<index_t> offsets("offsets", 2);
  const Vector<index_t> columns("columns", 8);
  offsets(1) = 8;
  for (index_t k = 0; k < 8; ++k) {
    columns(k) = k;
  }
  const CsrMatrix<double> A(1, 8, 1, offsets, columns, x);
  write_matrix_market(directory.file("a.mtx"), A);
  CHECK(same(read_matrix<double>(directory.file("a.mtx")), A));
}

TEST_CASE("a matrix larger than one batch of the writer") {
  const TemporaryDirectory directory;
  const auto A = random_matrix<double>(700, 600, 9);
  REQUIRE(A.stored() > 80000);
  write_matrix_market(directory.file("a.mtx"), A);
  CHECK(same(read_matrix<double>(directory.file("a.mtx")), A));
}

TEST_CASE("symmetric matrices are written as one triangle") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("s.mtx");
  const auto A = parse(real_symmetric + "3 3 4\n1 1 2\n2 1 -1\n3 2 -1\n3 3 2\n");
  write_matrix_market(path, A, true);
  CHECK(read_text(path) == real_symmetric + "3 3 4\n1 1 2\n2 1 -1\n3 2 -1\n3 3 2\n");
  CHECK(same(read_matrix<double>(path), A));
  write_matrix_market(path, A);
  CHECK(read_matrix_market_header(path).entries == 6);
  CHECK(same(read_matrix<double>(path), A));
  CHECK_THROWS_AS(write_matrix_market(path, random_matrix<double>(2, 3, 1), true), InvalidArgument);
}

TEMPLATE_TEST_CASE("vectors", "", float, double) {
  const TemporaryDirectory directory;
  const auto read = [&](const std::string& text) {
    write_text(directory.file("v.mtx"), text);
    return read_vector<TestType>(directory.file("v.mtx"));
  };
  for (const std::size_t n : {0u, 1u, 5u, 100000u}) {
    const Vector<TestType> x("x", n);
    for (std::size_t i = 0; i < n; ++i) {
      x(i) = i % 4 == 0 ? TestType{0} : TestType(1) / TestType(i);
    }
    for (const char* name : {"x.mtx", "x.mtx.gz"}) {
      write_vector<TestType>(directory.file(name), x);
      CHECK(same_bits(read_vector<TestType>(directory.file(name)), x));
    }
  }
  const auto sparse = read(real_general + "4 1 3\n4 1 2\n2 1 1\n4 1 3\n");
  CHECK(sparse.extent(0) == 4);
  CHECK(sparse(0) == 0);
  CHECK(sparse(1) == 1);
  CHECK(sparse(3) == 5);
  CHECK(read("%%MatrixMarket matrix coordinate pattern general\n2 1 1\n2 1\n")(1) == 1);
  CHECK(message_of([&] { read(real_general + "1 4 0\n"); }) ==
        directory.file("v.mtx") + ": a vector has one column, this file has 4");
  CHECK_THROWS_AS(read("%%MatrixMarket matrix array real general\n3 1\n1\n2\n"), IoError);
  CHECK_THROWS_AS(read(real_general + "1 1 2\n1 1 3e38\n1 1 nan\n"), IoError);
}

TEST_CASE("numbers that are not finite can be written but not read") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("x.mtx");
  const Vector<double> x("x", 1);
  x(0) = std::numeric_limits<double>::quiet_NaN();
  write_vector<double>(path, x);
  CHECK(message_of([&] { read_vector<double>(path); }) ==
        path + ":3: the value 'nan' is not finite");
}

TEST_CASE("block matrices must be converted before they are written") {
  const Vector<index_t> offsets("offsets", 2);
  const Vector<index_t> columns("columns", 1);
  const Vector<double> values("values", 4);
  offsets(1) = 1;
  const CsrMatrix<double> B(2, 2, 2, offsets, columns, values);
  const TemporaryDirectory directory;
  CHECK_THROWS_AS(write_matrix_market(directory.file("b"), B), InvalidArgument);
  CHECK_THROWS_AS(write_cache(directory.file("b"), B), InvalidArgument);
  CHECK(directory.files() == 0);
}
