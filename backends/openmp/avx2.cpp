#include <openmp/isa_includes.hpp>

#define CNC_ISA avx2
#define CNC_ISA_VECTOR_BYTES 32
#define CNC_ISA_TARGET "avx2,fma"
#include <openmp/isa_begin.hpp>
#include <openmp/table.hpp>
#include <openmp/isa_end.hpp>

namespace cnc {

const Backend openmp_avx2_backend = openmp::avx2::make_backend(
    "openmp:avx2", "OpenMP threads, AVX2 and FMA", [] {
      const bool usable = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
      return Availability{usable, usable ? "AVX2" : "this processor has no AVX2 or no FMA"};
    });

}  // namespace cnc
