#include <openmp/isa_includes.hpp>

#define CNC_ISA avx512
#define CNC_ISA_VECTOR_BYTES 64
#if defined(__clang__)
#define CNC_ISA_TARGET "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma"
#else
#define CNC_ISA_TARGET "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512"
#endif
#include <openmp/isa_begin.hpp>
#include <openmp/table.hpp>
#include <openmp/isa_end.hpp>

namespace cnc {

const Backend openmp_avx512_backend = openmp::avx512::make_backend(
    "openmp:avx512", "OpenMP threads, AVX-512", [] {
      const bool usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
      return Availability{usable, usable ? "AVX-512" : "this processor has no AVX-512"};
    });

}  // namespace cnc
