#include <openmp/isa_includes.hpp>

#define CNC_ISA portable
#define CNC_ISA_VECTOR_BYTES 16
#include <openmp/isa_begin.hpp>
#include <openmp/table.hpp>
#include <openmp/isa_end.hpp>

namespace cnc {

const Backend openmp_portable_backend = openmp::portable::make_backend(
    "openmp:portable", "OpenMP threads, 128-bit vectors",
    [] { return Availability{true, "any processor"}; });

}  // namespace cnc
