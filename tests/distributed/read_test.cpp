#include "distributed/cache_rows.hpp"
#include "distributed/distributed_test.hpp"
#include "io/cache_reader.hpp"
#include "support/forged_cache.hpp"
#include "support/same_matrix.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

// Files that ranks read in parts: what they have is what one process reads.

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A file that the first rank makes and removes.
class SharedFile {
 public:
  explicit SharedFile(const std::string& text) {
    char name[200] = {};
    if (world().rank() == 0) {
      (std::filesystem::temp_directory_path() / "cnc-ranks-XXXXXX").string().copy(name, 190);
      close(mkstemp(name));
      std::ofstream(name, std::ios::binary) << text;
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = name;
  }
  ~SharedFile() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world().rank() == 0) std::filesystem::remove(path_);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A binary cache, on all ranks.
template <class T>
std::string cache_of(const CsrMatrix<T>& A) {
  const SharedFile place("");
  if (world().rank() == 0) write_cache(place.path(), A);
  MPI_Barrier(MPI_COMM_WORLD);
  std::ifstream file(place.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// repeats: entries at the same place count twice where rows are dealt out.
template <class T>
void check_read(const SharedFile& file, int block_size = 1, bool repeats = false) {
  const CsrMatrix<T> A = read_matrix<T>(file.path());
  const auto parts = PartitionedMatrix<T>::read(world(), file.path(), block_size);
  const auto expected = PartitionedMatrix<T>::scattered(
      world(), world().rank() == 0 ? A : CsrMatrix<T>(), {.block_size = block_size});
  CHECK(parts.all_rows() == A.rows);
  check_products(A, parts);
  if (repeats) return;
  check_same_parts(parts, expected);
}

std::string text_of(const CsrMatrix<double>& A, const char* symmetry) {
  const bool half = std::string(symmetry) != "general";
  std::string lines;
  int count = 0;
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      if (!half || A.columns(k) <= i) {
        lines += std::to_string(i + 1) + " " + std::to_string(A.columns(k) + 1) + " " +
                 std::to_string(A.values(k)) + (++count % 7 == 0 ? "\r\n\n" : "\n");
      }
  const std::string n = std::to_string(A.rows);
  return std::string("%%MatrixMarket matrix coordinate real ") + symmetry + "\n% of a test\n" + n +
         " " + n + " " + std::to_string(count) + "\n" + lines;
}

}  // namespace

TEST_CASE("ranks read parts of a file") {
  check_read<double>(SharedFile(text_of(generate_problem("convection3d:5:2"), "general")));
  check_read<double>(SharedFile(text_of(generate_problem("elasticity3d:3"), "symmetric")), 3);
  check_read<float>(SharedFile(text_of(generate_problem("poisson2d:9x7"), "symmetric")));
  std::string unfinished = text_of(generate_problem("poisson2d:9x7"), "general");
  unfinished.erase(unfinished.find_last_not_of("\r\n") + 1);  // the last line has no end
  check_read<double>(SharedFile(unfinished));
  // Patterns, integers, skew matrices, entries given twice, fewer lines than ranks, none at all.
  check_read<double>(
      SharedFile("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n2 1\n3 2\n"));
  check_read<double>(
      SharedFile("%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 4\n3 2 5\n"));
  check_read<double>(
      SharedFile("%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 0.1\n1 1 0.2\n2 2 1\n1 "
                 "1 0.3\n"),
      1, true);
  check_read<double>(SharedFile("%%MatrixMarket matrix coordinate real general\n2 2 0\n"));
  check_read<double>(SharedFile("%%MatrixMarket matrix coordinate real general\n2 2 0\n\n"));
  check_read<double>(SharedFile("%%MatrixMarket matrix coordinate real general\n0 0 0\n\n"));
  check_read<double>(SharedFile("%%MatrixMarket matrix array real general\n2 2\n1\n0\n2\n3\n"));
}

TEST_CASE("ranks read parts of a binary cache") {
  const auto elasticity = generate_problem("elasticity3d:3");
  check_read<double>(SharedFile(cache_of(elasticity)), 3);
  check_read<float>(SharedFile(cache_of(elasticity)), 2);
  const auto narrow = convert_values<float>(generate_problem("convection3d:5:2"));
  check_read<float>(SharedFile(cache_of(narrow)));
  check_read<double>(SharedFile(cache_of(narrow)));
  {
    const SharedFile file(cache_of(elasticity));  // that is not because the first rank has read it
    const auto source = detail::open_file(file.path(), 1);
    const auto header = detail::read_cache_header(*source, file.path());
    CHECK(detail::rows_of_cache<double>(*world().channel(), file.path(), header, 1).has_value());
  }
  // Fewer rows than ranks, without entries, none at all; columns that do not ascend.
  check_read<double>(SharedFile(cache_of(generate_problem("poisson2d:2x1"))));
  check_read<double>(SharedFile(cache_of(literal_csr<double>(3, 3, {0, 0, 0, 0}, {}, {}))));
  check_read<double>(SharedFile(cache_of(CsrMatrix<double>())));
  check_read<double>(SharedFile(
      cache_of(literal_csr<double>(3, 3, {0, 2, 2, 4}, {2, 0, 1, 0}, {1.5, 2.5, 3.5, 4.5}))));
}

namespace {

std::string refusal(const std::string& path) {
  return thrown_by([&] { PartitionedMatrix<double>::read(world(), path); });
}

/// On the first rank what one process says, and the others know whose it is.
void check_refused(const std::string& bytes, const std::string& expected) {
  const SharedFile file(bytes);
  const std::string by = world().rank() == 0 ? "" : "rank 0: ";
  const std::string said = thrown_by([&] { (void)read_matrix<double>(file.path()); });
  CHECK_FALSE(said.empty());
  CHECK_THAT(said, ContainsSubstring(expected));
  CHECK(refusal(file.path()) == by + said);
}

}  // namespace

TEST_CASE("what is wrong with a binary cache is said as by one process, on all ranks") {
  using Header = detail::CacheHeader;
  const auto A = generate_problem("poisson2d:3x2");
  const std::string bytes = cache_of(A);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    INFO("byte " << at);
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    check_refused(damaged, "");
  }
  check_refused(bytes.substr(0, bytes.size() - 1), "truncated");
  check_refused(bytes.substr(0, 20), "truncated");
  const std::size_t columns = sizeof(Header) + 7 * sizeof(index_t);
  const std::size_t values = columns + static_cast<std::size_t>(A.stored()) * sizeof(index_t);
  for (std::size_t row = 0; row <= 6; ++row)
    for (const index_t wrong : {-2147483647 - 1, -1, 1, 19, 2147483647})
      check_refused(forged(bytes, sizeof(Header) + row * sizeof(index_t), wrong), "");
  for (const index_t wrong : {-1, 6, 2147483647})
    check_refused(forged(bytes, columns + 5 * sizeof(index_t), wrong), "");
  check_refused(forged(bytes, columns + sizeof(index_t), 0), "");  // twice the same
  check_refused(forged(bytes, bytes.size() - 8, std::numeric_limits<double>::infinity()),
                "value 20 of 20 stored is not finite");
  check_refused(forged(bytes, values, std::numeric_limits<double>::quiet_NaN()), "not finite");
  const SharedFile wide(forged(bytes, offsetof(Header, cols), offset_t(7)));
  CHECK_THAT(refusal(wide.path()), ContainsSubstring("must be square"));
  const SharedFile huge(cache_of(literal_csr<double>(2, 2, {0, 1, 2}, {0, 1}, {1, 1e300})));
  CHECK_THAT(thrown_by([&] { PartitionedMatrix<float>::read(world(), huge.path()); }),
             ContainsSubstring("value 2 of 2 stored is not finite"));
}

TEST_CASE("what is wrong with a file is said as by one process, on all ranks") {
  const std::string head = "%%MatrixMarket matrix coordinate real ";
  std::string lines;
  for (int i = 1; i <= 40; ++i) lines += std::to_string(i) + " " + std::to_string(i) + " 1\n";
  check_refused(head + "general\n41 41 41\n" + lines + "41 41 one\n", ":43: ");
  check_refused(head + "general\n40 40 41\n" + lines, "");
  check_refused(head + "general\n40 40 39\n" + lines, "");
  check_refused(head + "general\n39 39 40\n" + lines, ":42: ");
  check_refused(head + "general\n40 40 42\n7 7 1e308\n" + lines + "7 7 1e308\n", "");
  check_refused(head + "symmetric\n41 41 42\n2 1 1\n" + lines + "1 41 1\n", ":44: ");
  {
    const SharedFile file(head + "general\n2 3 1\n1 1 1\n");
    CHECK_THAT(refusal(file.path()), ContainsSubstring("must be square"));
  }
  CHECK_THAT(refusal("/nowhere/there.mtx"), ContainsSubstring("/nowhere/there.mtx"));
}
