#include <gpu/matrix_entries.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

template struct MappingEntries<native_wave, RowMapping::row_per_wave, float, float>;
template struct MappingEntries<native_wave, RowMapping::row_per_wave, double, double>;
template struct MappingEntries<native_wave, RowMapping::row_per_wave, float, double>;
template struct MappingEntries<native_wave, RowMapping::row_per_block, float, float>;
template struct MappingEntries<native_wave, RowMapping::row_per_block, double, double>;
template struct MappingEntries<native_wave, RowMapping::row_per_block, float, double>;
template struct MappingEntries<native_wave, RowMapping::balanced, float, float>;
template struct MappingEntries<native_wave, RowMapping::balanced, double, double>;
template struct MappingEntries<native_wave, RowMapping::balanced, float, double>;

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
