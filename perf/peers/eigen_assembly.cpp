#include "peers/assembly.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <Eigen/SparseCore>

namespace cnc::perf::eigen {
namespace {

struct State {
  const Pieces& pieces;
  Eigen::SparseMatrix<double, Eigen::RowMajor, int> matrix{};
  std::vector<Eigen::Triplet<double, int>> triplets{};

  /// visit(row, column, value) for all entries.
  template <class Visit>
  void for_each_entry(const Visit& visit) const {
    const Pieces& P = pieces;
    const int b = P.block_size;
    const auto rows = static_cast<std::size_t>(P.rows), cols = static_cast<std::size_t>(P.cols);
    for (std::size_t p = 0; p < P.weight.size(); ++p) {
      const int* const row = P.row.data() + p * rows;
      const int* const col = P.col.data() + p * cols;
      const double* common = P.common.data();
      for (std::size_t i = 0; i < rows; ++i)
        for (int ib = 0; ib < b; ++ib)
          for (std::size_t j = 0; j < cols; ++j)
            for (int jb = 0; jb < b; ++jb)
              visit(row[i] * b + ib, col[j] * b + jb, *common++ * P.weight[p]);
    }
  }
  void from_triplets() {
    triplets.clear();
    triplets.reserve(static_cast<std::size_t>(pieces.entries()));
    for_each_entry([&](int i, int j, double value) { triplets.emplace_back(i, j, value); });
    matrix.resize(pieces.matrix_rows, pieces.matrix_cols);
    matrix.setFromTriplets(triplets.begin(), triplets.end());
  }
  Assembled result() const {
    return {double(matrix.nonZeros()), matrix.nonZeros() == 0 ? 0 : matrix.coeffs().sum()};
  }
};

}  // namespace

std::vector<AssemblyPeer> assembly(const Pieces& pieces) {
  const auto triplets = std::make_shared<State>(State{pieces});
  const auto found = std::make_shared<State>(State{pieces});
  return {{"Eigen setFromTriplets",
           [triplets] {
             triplets->triplets = {};
             triplets->matrix = {};
             triplets->from_triplets();
           },
           [triplets] { triplets->from_triplets(); }, [triplets] { return triplets->result(); }},
          {"Eigen coeffRef",
           [found] {
             found->triplets = {};
             found->matrix = {};
             found->from_triplets();
           },
           [found] {
             found->matrix.coeffs().setZero();
             found->for_each_entry(
                 [&](int i, int j, double value) { found->matrix.coeffRef(i, j) += value; });
           },
           [found] { return found->result(); }}};
}

}  // namespace cnc::perf::eigen
