// What holds on a device besides what conformance and the solver tests check in every memory.

#include "solve/backends.hpp"
#include "support/solve_problem.hpp"

#include <cnc/blas1.hpp>
#include <cnc/error.hpp>

#include <limits>

#ifdef CNC_KOKKOS_HAS_DEVICE
#include <impl/Kokkos_Profiling.hpp>

#include <atomic>
#include <exception>
#include <thread>

namespace cnc::testing {
namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Space = Device::memory_space;

/// The device backends that solve: neither baselines nor variants.
std::vector<const Backend*> device_backends() {
  std::vector<const Backend*> list;
  for (const Backend* backend : backends())
    if (backend->memory == MemorySpace::device && !backend->baseline && !backend->variant &&
        availability_of(*backend).usable)
      list.push_back(backend);
  return list;
}

#define CNC_NEEDS_DEVICE \
  if (device_backends().empty()) CNC_SKIP("no device backend is usable here")

/// A problem in device memory.
struct OnDevice {
  KnownProblem<double> P;
  CsrMatrix<double, Space> A;
  Vector<const double, Space> b;

  explicit OnDevice(const char* text)
      : P(known_problem<double>(text)), A(copy_to<Space>(P.A)), b(copy_to<Space>(P.b)) {}
  Vector<double, Space> zeros() const { return zeroed<double, Space>("x", b.extent(0)); }
};

SolveOptions options_of(Method method, SolveForm form) {
  SolveOptions options;
  options.method = method;
  options.form = form;
  return options;
}

/// Allocations of views, in any memory, that Kokkos reported since the last look.
std::atomic<long> view_allocations{0};
void count_allocation(Kokkos::Profiling::SpaceHandle, const char*, const void*, std::uint64_t) {
  ++view_allocations;
}

/// Two instances of the device, each on a stream of its own.
auto two_streams() { return Kokkos::Experimental::partition_space(Device(), 1, 1); }

}  // namespace

TEST_CASE("a solve on a device allocates nothing there") {
  CNC_NEEDS_DEVICE;
  const OnDevice problem("poisson2d:70x60");
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_allocation);
  for (const Backend* backend : device_backends())
    for (const Method method : every_method)
      for (const SolveForm form : every_form) try {
          INFO(backend->name << " " << to_string(method) << " " << to_string(form));
          Context<Device> ctx(*backend);
          Solver<double, Device> solver(ctx, options_of(method, form));
          solver.prepare(problem.A);
          const auto x = problem.zeros();
          // The first solve loads kernels and captures graphs.
          const SolveReport first = solver.solve(problem.b, x);
          CHECK(first.converged());
          Kokkos::deep_copy(x, 0.0);
          ctx.fence();
          const long before = view_allocations;
          const double free = backend->free_bytes ? backend->free_bytes(ctx.queue().device) : 0;
          CHECK(solver.solve(problem.b, x).converged());
          CHECK(solver.solve(problem.b, x).converged());
          // Kokkos gives teams scratch memory of its own at every launch.
          if (std::string(backend->name) != "kokkos") CHECK(view_allocations == before);
          if (backend->free_bytes) CHECK(backend->free_bytes(ctx.queue().device) == free);
        } catch (const UnsupportedOperation&) {
        }
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
}

TEST_CASE("long arrays reach a device whole, and from where they begin") {
  CNC_NEEDS_DEVICE;
  const std::size_t n = detail::long_copy / sizeof(double) * 5 / 2 + 3;
  const auto all = uninitialized<double>("all", n + 1);
  for (std::size_t i = 0; i <= n; ++i) all(i) = static_cast<double>(i);
  const auto part = Kokkos::subview(all, std::make_pair(std::size_t(1), n + 1));
  const auto back = copy_to<HostSpace>(copy_to<Space>(Vector<const double>(part)));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += back(i) != static_cast<double>(i + 1);
  CHECK(wrong == 0);
}

TEST_CASE("two contexts on two streams give at once what each gives alone") {
  CNC_NEEDS_DEVICE;
  const OnDevice problems[] = {OnDevice("poisson2d:70x60"), OnDevice("elasticity2d:40")};
  for (const Backend* backend : device_backends())
    for (const SolveForm form : every_form) try {
        INFO(backend->name << " " << to_string(form));
        const SolveOptions options = options_of(Method::pcg, form);
        const auto streams = two_streams();
        Vector<double> expected[2];
        Context<Device> first(*backend, 0, streams[0]), second(*backend, 0, streams[1]);
        Context<Device>* const contexts[] = {&first, &second};
        std::vector<Solver<double, Device>> solvers;
        Vector<double, Space> x[2] = {problems[0].zeros(), problems[1].zeros()};
        Kokkos::fence();
        std::atomic<int> converged{0};
        // Solvers that have done as many iterations are in the same form.
        const auto work = [&](int i) {
          for (int round = 0; round < 5; ++round) {
            Kokkos::deep_copy(contexts[i]->execution_space_instance(), x[i], 0.0);
            if (solvers[static_cast<std::size_t>(i)].solve(problems[i].b, x[i]).converged())
              ++converged;
          }
        };
        const auto prepare = [&] {
          solvers.clear();
          for (int i = 0; i < 2; ++i) {
            solvers.emplace_back(*contexts[i], options);
            solvers.back().prepare(problems[i].A);
          }
        };
        prepare();
        for (int i = 0; i < 2; ++i) {
          work(i);
          expected[i] = copy_to<HostSpace>(x[i]);
        }
        REQUIRE(converged.exchange(0) == 10);
        prepare();
        std::thread one(work, 0), two(work, 1);
        one.join();
        two.join();
        CHECK(converged == 10);
        for (int i = 0; i < 2; ++i) CHECK(same_bits(copy_to<HostSpace>(x[i]), expected[i]));
      } catch (const UnsupportedOperation&) {
      }
}

/// Keeps a stream busy for a while before it writes.
struct SlowFill {
  double* data;
  double value;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    double z = value;
    for (int k = 0; k < 200000; ++k) z = z * 0.5 + value * 0.5;
    data[i] = z;
  }
};

TEST_CASE("operations are enqueued on the caller's stream, behind what is there") {
  CNC_NEEDS_DEVICE;
  const index_t n = 1000;
  for (const Backend* backend : device_backends()) {
    INFO(backend->name);
    const Device stream = two_streams()[0];
    Context<Device> ctx(*backend, 0, stream);
    const auto x = zeroed<double, Space>("x", n), y = zeroed<double, Space>("y", n);
    Kokkos::fence();
    // If the operation ran on another stream, it would read x before the slow kernel has written it.
    Kokkos::parallel_for("slow",
                         Kokkos::RangePolicy<Device, Kokkos::IndexType<offset_t>>(stream, 0, n),
                         SlowFill{x.data(), 3});
    axpy(ctx, 2.0, x, y);
    CHECK(nrm2(ctx, y) == Approx(6 * std::sqrt(n)));
  }
}

TEST_CASE("a device that is full says how much was asked, and the solver can be used again") {
  CNC_NEEDS_DEVICE;
  const OnDevice problem("poisson2d:70x60");
  const std::size_t huge = std::size_t{1} << 46;
  try {
    (void)uninitialized<double, Space>("huge", huge / sizeof(double));
    FAIL("64 TiB were allocated");
  } catch (const OutOfMemory& error) {
    CHECK(error.bytes_asked() == huge);
    CHECK(error.bytes_free() < huge);
  }
  for (const Backend* backend : device_backends()) {
    INFO(backend->name);
    Context<Device> ctx(*backend);
    Solver<double, Device> solver(ctx);
    // Rows without entries: few bytes of matrix, tens of gigabytes of vectors.
    const index_t rows = std::numeric_limits<index_t>::max() - 1;
    const LinearOperator<double, Space> nothing{rows, [](const auto&, const auto&) {}};
    SolveOptions options;
    options.preconditioner = PreconditionerKind::none;
    solver.set_options(options);
    std::vector<Vector<char, Space>> ballast;  // until little is left
    try {
      for (;;) ballast.push_back(uninitialized<char, Space>("ballast", std::size_t{1} << 30));
    } catch (const OutOfMemory&) {
    }
    CHECK_THROWS_AS(solver.prepare(nothing), OutOfMemory);
    ballast.clear();
    const double free = backend->free_bytes ? backend->free_bytes(ctx.queue().device) : 0;
    CHECK_THROWS_AS(solver.solve(problem.b, problem.zeros()), InvalidArgument);  // not prepared
    solver.prepare(problem.A);
    CHECK(solver.solve(problem.b, problem.zeros()).converged());
    if (backend->free_bytes)
      CHECK(backend->free_bytes(ctx.queue().device) >= free - double(std::size_t{1} << 28));
  }
}

#ifdef KOKKOS_ENABLE_CUDA
TEST_CASE("an old error of the caller's is not taken for one of an operation") {
  CNC_NEEDS_DEVICE;
  const index_t n = 1000;
  for (const Backend* backend : device_backends()) {
    if (std::string(backend->name) == "kokkos") continue;  // whose launches are Kokkos' own
    INFO(backend->name);
    Context<Device> ctx(*backend);
    ctx.reserve(n);
    const auto x = zeroed<double, Space>("x", n), y = zeroed<double, Space>("y", n);
    void* nothing = nullptr;
    REQUIRE(cudaMalloc(&nothing, std::size_t{1} << 50) == cudaErrorMemoryAllocation);
    const auto& ops = ctx.vectors<double>();
    CHECK_NOTHROW(ops.axpy(ctx.queue(), n, 2.0, x.data(), y.data()));
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);  // and it is still theirs
    ctx.fence();
    // Set-up is kernels of Kokkos, which does take it for its own.
    const OnDevice problem("poisson2d:30x20");
    Solver<double, Device> solver(ctx);
    REQUIRE(cudaMalloc(&nothing, std::size_t{1} << 50) == cudaErrorMemoryAllocation);
    CHECK_NOTHROW(solver.prepare(problem.A));
    CHECK(solver.solve(problem.b, problem.zeros()).converged());
  }
}

/// A stream of its own on a device, and Kokkos' instance of it.
struct DeviceInstance {
  int device;
  cudaStream_t stream = nullptr;
  explicit DeviceInstance(int number) : device(number) {
    REQUIRE(cudaSetDevice(device) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
  }
  ~DeviceInstance() { cudaStreamDestroy(stream); }
};

/// The device that holds the memory.
int device_of(const void* data) {
  cudaPointerAttributes attributes;
  REQUIRE(cudaPointerGetAttributes(&attributes, data) == cudaSuccess);
  return attributes.device;
}

/// In two threads at once, each on a stream and a device of its own: everything from the matrix to the last solve, so that
/// each allocates, frees and waits for devices while the other records graphs.
void check_two_threads(const int (&devices)[2]) {
  const DeviceInstance streams[] = {DeviceInstance(devices[0]), DeviceInstance(devices[1])};
  const Device execs[] = {Device(streams[0].stream), Device(streams[1].stream)};
  for (int i = 0; i < 2; ++i) REQUIRE(execs[i].cuda_device() == devices[i]);
  const char* texts[] = {"poisson2d:70x60", "elasticity2d:40"};
  for (const Backend* backend : device_backends())
    for (const char* format : {"auto", "csr", "bsell:1", "dia"})
      for (const SolveForm form : every_form) try {
          INFO(backend->name << " " << format << " " << to_string(form));
          std::atomic<int> good{0};
          const auto solve = [&](int i, const char* text) {
            const InstanceScope scope(execs[i]);
            Context<Device> ctx(*backend, 0, execs[i]);
            const OnDevice problem(text);
            SolveOptions options = options_of(Method::pcg, form);
            options.format = parse_format(format);
            Solver<double, Device> solver(ctx, options);
            solver.prepare(problem.A);
            const auto x = problem.zeros();
            bool all = device_of(x.data()) == devices[i] && ctx.queue().device == devices[i] &&
                       device_of(ctx.queue().partials) == devices[i] &&
                       device_of(ctx.queue().tickets) == devices[i];
            for (int round = 0; round < 3; ++round) {
              Kokkos::deep_copy(execs[i], x, 0.0);
              all = all && solver.solve(problem.b, x).converged();
            }
            solver.update_values(problem.A);
            all = all && solver.solve(problem.b, x).converged();
            good += all;
            return copy_to<HostSpace>(x);
          };
          // The reference of both is a solve on the first stream alone.
          const Vector<double> expected[] = {solve(0, texts[0]), solve(0, texts[1])};
          Vector<double> found[2];
          std::exception_ptr failed[2];
          const auto work = [&](int i) {
            try {
              found[i] = solve(i, texts[i]);
            } catch (...) {
              failed[i] = std::current_exception();
            }
          };
          std::thread one(work, 0), two(work, 1);
          one.join();
          two.join();
          for (const std::exception_ptr& error : failed)
            if (error) std::rethrow_exception(error);
          CHECK(good == 4);
          for (int i = 0; i < 2; ++i) CHECK(same_bits(found[i], expected[i]));
        } catch (const UnsupportedOperation&) {
        }
}

TEST_CASE("two threads on two streams of one device, each with everything of its own") {
  CNC_NEEDS_DEVICE;
  check_two_threads({0, 0});
}

TEST_CASE("two contexts on two devices at once, each with its memory on its own") {
  CNC_NEEDS_DEVICE;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2)
    CNC_SKIP("only one device is here");
  check_two_threads({0, 1});
}
#endif

}  // namespace cnc::testing

#else

TEST_CASE("a device keeps the promises of the host") { CNC_SKIP("this Kokkos has no device"); }

#endif
