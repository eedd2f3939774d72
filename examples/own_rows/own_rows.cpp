// Solves A x = b on the processes of an MPI program: each makes the rows that it has, and keeps its part of b and x.
//
//   mpirun -n 4 own_rows

#include <cnc/distributed.hpp>
#include <cnc/scope_guard.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

// A rod of n nodes with its ends held at zero: 2 on the diagonal, -1 beside it.
int solve_rod(MPI_Comm program, long long n) {
  int rank = 0, size = 1;
  MPI_Comm_rank(program, &rank);
  MPI_Comm_size(program, &size);

  // Nodes [first, end) are ours; rows have the numbers of the whole rod.
  const long long first = n * rank / size, end = n * (rank + 1) / size;
  std::vector<cnc::offset_t> row_offsets = {0}, columns;
  std::vector<double> values;
  for (long long i = first; i < end; ++i) {
    for (long long j = i - 1; j <= i + 1; ++j)
      if (j >= 0 && j < n) {
        columns.push_back(j);
        values.push_back(j == i ? 2.0 : -1.0);
      }
    row_offsets.push_back(static_cast<cnc::offset_t>(columns.size()));
  }
  const auto rows = static_cast<cnc::index_t>(end - first);
  std::vector<double> b(static_cast<std::size_t>(rows), 1.0), x(b.size(), 0.0);

  const cnc::Communicator ranks(program);  // a duplicate: messages of the program stay its own
  const cnc::PartitionedMatrix<double> A(ranks, {first, row_offsets, columns, values});

  cnc::Context context("auto", 1);  // one thread for each process
  cnc::DistributedSolver<double> solver(context, {.rtol = 1e-10});
  solver.prepare(A);
  const cnc::SolveReport report =
      solver.solve(cnc::wrap<>(b.data(), rows), cnc::wrap<>(x.data(), rows));

  // The exact solution is a parabola: x(i) = (i + 1) (n - i) / 2.
  double error = 0, worst = 0;
  for (long long i = first; i < end; ++i) {
    const double exact = 0.5 * static_cast<double>(i + 1) * static_cast<double>(n - i);
    error = std::fmax(error, std::fabs(x[static_cast<std::size_t>(i - first)] / exact - 1));
  }
  MPI_Reduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, program);
  if (rank == 0)
    std::printf("%d processes: %s after %d iterations, relative residual %.1e, error %.1e\n", size,
                cnc::to_string(report.status), report.iterations, report.relative_residual, worst);
  return report.converged() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);  // the program's own; a cnc::MpiScope does it for those that have none
  int code = 2;
  try {
    const cnc::ScopeGuard guard;
    code = solve_rod(MPI_COMM_WORLD, 1000);
  } catch (const cnc::Error& error) {
    std::fprintf(stderr, "own_rows: %s\n", error.what());
  }
  MPI_Finalize();
  return code;
}
