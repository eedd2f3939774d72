// A system that is in GPU memory already, as raw pointers. Nothing is brought to the host to be solved.
//
// The GPU is the one that Kokkos was built for. Where Kokkos has none, its default execution space is the host and
// this program runs there, unchanged.

#include <cnc/cnc.hpp>

#include <cstdio>
#include <vector>

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

template <class T, class Space>
using Raw = Kokkos::View<T*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A raw pointer of this program's own into the memory of the GPU. One from cudaMalloc or hipMalloc is
/// the same to the library.
template <class T>
T* to_device(const std::vector<T>& host) {
  T* const data = static_cast<T*>(Kokkos::kokkos_malloc<Memory>(host.size() * sizeof(T)));
  Kokkos::deep_copy(Raw<T, Memory>(data, host.size()),
                    Raw<const T, Kokkos::HostSpace>(host.data(), host.size()));
  return data;
}

}  // namespace

int main(int argc, char** argv) {
  const cnc::ScopeGuard guard(argc, argv);
  try {
    const int n = 10000;
    std::vector<int> row_offsets = {0}, columns;
    std::vector<double> values;
    for (int i = 0; i < n; ++i) {
      for (const int j : {i - 100, i - 1, i, i + 1, i + 100})
        if (j >= 0 && j < n) {
          columns.push_back(j);
          values.push_back(j == i ? 4.1 : -1.0);
        }
      row_offsets.push_back(static_cast<int>(columns.size()));
    }
    int* const device_offsets = to_device(row_offsets);
    int* const device_columns = to_device(columns);
    double* const device_values = to_device(values);
    double* const device_b = to_device(std::vector<double>(n, 1.0));
    double* const device_x = to_device(std::vector<double>(n, 0.0));

    cnc::SolveReport report;
    {
      // The memory space is a type: pointers into the wrong memory do not compile.
      const auto A = cnc::wrap_csr<Memory>(n, n, row_offsets.back(), device_offsets, device_columns,
                                           device_values);
      cnc::Context<Exec> context;  // on a stream of its own: Context<Exec>("auto", 0, Exec(stream))
      cnc::Solver<double, Exec> solver(context);
      solver.prepare(A);
      report = solver.solve(cnc::wrap<Memory>(device_b, n), cnc::wrap<Memory>(device_x, n));
    }

    std::vector<double> x(n);
    Kokkos::deep_copy(Raw<double, Kokkos::HostSpace>(x.data(), x.size()),
                      Raw<const double, Memory>(device_x, x.size()));
    std::printf("%s after %d iterations in %s (%s); x in the middle %.6f\n",
                cnc::to_string(report.status), report.iterations, Exec::name(),
                report.backend.c_str(), x[n / 2]);
    Kokkos::kokkos_free<Memory>(device_offsets);
    Kokkos::kokkos_free<Memory>(device_columns);
    Kokkos::kokkos_free<Memory>(device_values);
    Kokkos::kokkos_free<Memory>(device_b);
    Kokkos::kokkos_free<Memory>(device_x);
    return report.converged() ? 0 : 1;
  } catch (const cnc::Error& error) {
    std::fprintf(stderr, "device_pointers: %s\n", error.what());
    return 2;
  }
}
