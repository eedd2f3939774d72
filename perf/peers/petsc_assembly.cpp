#include "peers/assembly.hpp"
#include "peers/petsc_calls.hpp"

#include <petscmat.h>

#include <algorithm>

namespace cnc::perf::petsc {
namespace {

struct State {
  const Pieces& pieces;
  Mat matrix = nullptr;
  std::vector<int> rows{}, cols{};  ///< of entries in coordinates
  std::vector<double> values{};
  std::vector<int> row_lengths{};

  explicit State(const Pieces& given) : pieces(given) { initialize(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { clear(); }

  void clear() {
    if (matrix != nullptr) MatDestroy(&matrix);
    matrix = nullptr;
  }
  void create() {
    clear();
    check(MatCreate(PETSC_COMM_SELF, &matrix));
    check(MatSetSizes(matrix, pieces.matrix_rows, pieces.matrix_cols, pieces.matrix_rows,
                      pieces.matrix_cols));
    check(MatSetType(matrix, MATSEQAIJ));
  }

  /// What a caller who preallocates has to know first: not timed.
  void learn_row_lengths() {
    first_by_coordinates();
    for (int i = 0; i < pieces.matrix_rows; ++i) {
      PetscInt length = 0;
      check(MatGetRow(matrix, i, &length, nullptr, nullptr));
      row_lengths.push_back(length);
      check(MatRestoreRow(matrix, i, &length, nullptr, nullptr));
    }
    rows = cols = {};
    values = {};
    clear();
  }

  void set_values() {
    const Pieces& P = pieces;
    const auto n = static_cast<std::size_t>(P.rows), m = static_cast<std::size_t>(P.cols);
    std::vector<double> local(P.common.size());
    for (std::size_t p = 0; p < P.weight.size(); ++p) {
      for (std::size_t k = 0; k < local.size(); ++k) local[k] = P.common[k] * P.weight[p];
      const auto set = P.block_size > 1 ? MatSetValuesBlocked : MatSetValues;
      check(set(matrix, P.rows, P.row.data() + p * n, P.cols, P.col.data() + p * m, local.data(),
                ADD_VALUES));
    }
    check(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    check(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  }
  void first() {
    create();
    check(MatSetBlockSizes(matrix, pieces.equations ? 1 : pieces.block_size, pieces.block_size));
    check(MatSeqAIJSetPreallocation(matrix, 0, row_lengths.data()));
    set_values();
  }
  void again() {
    check(MatZeroEntries(matrix));
    set_values();
  }

  void coordinates() {
    rows.clear();
    cols.clear();
    rows.reserve(static_cast<std::size_t>(pieces.entries()));
    cols.reserve(rows.capacity());
    const Pieces& P = pieces;
    const int b = P.block_size;
    const auto n = static_cast<std::size_t>(P.rows), m = static_cast<std::size_t>(P.cols);
    for (std::size_t p = 0; p < P.weight.size(); ++p)
      for (std::size_t i = 0; i < n; ++i)
        for (int ib = 0; ib < b; ++ib)
          for (std::size_t j = 0; j < m; ++j)
            for (int jb = 0; jb < b; ++jb) {
              rows.push_back(P.row[p * n + i] * b + ib);
              cols.push_back(P.col[p * m + j] * b + jb);
            }
  }
  void set_coordinate_values() {
    values.resize(static_cast<std::size_t>(pieces.entries()));
    double* value = values.data();
    for (const double weight : pieces.weight)
      for (const double common : pieces.common) *value++ = common * weight;
    check(MatSetValuesCOO(matrix, values.data(), INSERT_VALUES));
  }
  void first_by_coordinates() {
    rows = cols = {};
    values = {};
    create();
    coordinates();
    check(MatSetPreallocationCOO(matrix, static_cast<PetscCount>(rows.size()), rows.data(),
                                 cols.data()));
    set_coordinate_values();
  }

  Assembled result() const {
    MatInfo info;
    check(MatGetInfo(matrix, MAT_LOCAL, &info));
    const PetscScalar* array = nullptr;
    check(MatSeqAIJGetArrayRead(matrix, &array));
    double sum = 0;
    for (long k = 0; k < static_cast<long>(info.nz_used); ++k) sum += array[k];
    check(MatSeqAIJRestoreArrayRead(matrix, &array));
    return {info.nz_used, sum};
  }
};

}  // namespace

std::vector<AssemblyPeer> assembly(const Pieces& pieces) {
  const auto set = std::make_shared<State>(pieces);
  const auto coordinates = std::make_shared<State>(pieces);
  set->learn_row_lengths();
  return {{"PETSc MatSetValues, preallocated", [set] { set->first(); }, [set] { set->again(); },
           [set] { return set->result(); }},
          {"PETSc MatSetValuesCOO", [coordinates] { coordinates->first_by_coordinates(); },
           [coordinates] { coordinates->set_coordinate_values(); },
           [coordinates] { return coordinates->result(); }}};
}

}  // namespace cnc::perf::petsc
