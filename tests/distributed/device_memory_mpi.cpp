#include "distributed/device_memory_mpi.hpp"

#include <Kokkos_Core.hpp>

#include <mpi.h>

#if defined(KOKKOS_ENABLE_HIP)
#include <hip/hip_runtime_api.h>
#define CNC_RUNTIME(name) hip##name
using PointerFacts = hipPointerAttribute_t;
#else
#include <cuda_runtime_api.h>
#define CNC_RUNTIME(name) cuda##name
using PointerFacts = cudaPointerAttributes;
#endif

#include <cstddef>
#include <cstdio>
#include <list>
#include <vector>

// Stands in for an MPI that sees memory of devices: persistent requests with such memory go through buffers of the host, by MPI's
// profiling interface. Its copies are in a stream that waits for nothing else, as those of such an MPI would be.

namespace {

struct Staged {
  MPI_Request request = MPI_REQUEST_NULL;
  void* device = nullptr;
  std::vector<unsigned char> host;
  bool receives = false, is_under_way = false;
};

std::list<Staged> all_staged;
int starts = 0;

void require(CNC_RUNTIME(Error_t) code) {
  if (code == CNC_RUNTIME(Success)) return;
  std::fprintf(stderr, "device_memory_mpi: %s\n", CNC_RUNTIME(GetErrorString)(code));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

CNC_RUNTIME(Stream_t) own_stream() {
  static CNC_RUNTIME(Stream_t) stream = nullptr;
  if (stream == nullptr)
    require(CNC_RUNTIME(StreamCreateWithFlags)(&stream, CNC_RUNTIME(StreamNonBlocking)));
  return stream;
}

bool is_of_device(const void* data) {
  PointerFacts facts{};
  // Some do not know what malloc gives.
  if (CNC_RUNTIME(PointerGetAttributes)(&facts, data) != CNC_RUNTIME(Success)) {
    (void)CNC_RUNTIME(GetLastError)();
    return false;
  }
#if defined(KOKKOS_ENABLE_HIP) && HIP_VERSION_MAJOR < 6
  return facts.memoryType == hipMemoryTypeDevice;
#else
  return facts.type == CNC_RUNTIME(MemoryTypeDevice);
#endif
}

/// Makes a request by init(memory of the host, where the handle goes), if it is for a device.
template <class Init>
int staged(void* data, int count, MPI_Datatype type, bool receives, MPI_Request* request,
           const Init& init) {
  if (!is_of_device(data)) return init(data);
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  bytes *= count;
  Staged& s = all_staged.emplace_back();
  s.device = data;
  s.host.resize(static_cast<std::size_t>(bytes));
  s.receives = receives;
  const int code = init(s.host.data());
  s.request = *request;
  return code;
}

/// work(staged) for those of these requests that are.
template <class Work>
void for_staged(int count, const MPI_Request* requests, const Work& work) {
  for (int k = 0; k < count; ++k)
    for (Staged& s : all_staged)
      if (s.request == requests[k]) work(s);
}

}  // namespace

int cnc::testing::starts_in_device_memory() { return starts; }

#pragma GCC visibility push(default)  // a shared library finds them here
extern "C" {

int MPIX_Query_cuda_support(void) { return 1; }
int MPIX_Query_rocm_support(void) { return 1; }

int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks,
                  MPI_Request* request) {
  return staged(const_cast<void*>(data), count, type, false, request, [&](const void* from) {
    return PMPI_Send_init(from, count, type, to, tag, ranks, request);
  });
}

int MPI_Recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm ranks,
                  MPI_Request* request) {
  return staged(data, count, type, true, request, [&](void* to) {
    return PMPI_Recv_init(to, count, type, from, tag, ranks, request);
  });
}

int MPI_Startall(int count, MPI_Request* requests) {
  for_staged(count, requests, [](Staged& s) {
    ++starts;
    s.is_under_way = true;
    // From here on MPI may write what it receives: who still reads what was there before shall see it.
    require(s.receives ? CNC_RUNTIME(MemsetAsync)(s.device, 0xff, s.host.size(), own_stream())
                       : CNC_RUNTIME(MemcpyAsync)(s.host.data(), s.device, s.host.size(),
                                                  CNC_RUNTIME(MemcpyDeviceToHost), own_stream()));
    require(CNC_RUNTIME(StreamSynchronize)(own_stream()));
  });
  return PMPI_Startall(count, requests);
}

int MPI_Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  const int code = PMPI_Testall(count, requests, done, statuses);
  if (code != MPI_SUCCESS || *done == 0) return code;
  for_staged(count, requests, [](Staged& s) {
    if (s.receives && s.is_under_way) {
      require(CNC_RUNTIME(MemcpyAsync)(s.device, s.host.data(), s.host.size(),
                                       CNC_RUNTIME(MemcpyHostToDevice), own_stream()));
      require(CNC_RUNTIME(StreamSynchronize)(own_stream()));
    }
    s.is_under_way = false;
  });
  return code;
}

int MPI_Request_free(MPI_Request* request) {
  all_staged.remove_if([&](const Staged& s) { return s.request == *request; });
  return PMPI_Request_free(request);
}

}  // extern "C"
#pragma GCC visibility pop
