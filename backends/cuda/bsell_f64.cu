#include <gpu/matrix_entries.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {
template struct MatrixEntries<native_wave, BsellOperand<double>, double>;
}
