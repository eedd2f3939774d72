// No include guard: closes what isa_begin.hpp opened.
#if defined(CNC_ISA_TARGET)
#if defined(__clang__)
_Pragma("clang attribute pop")
#else
_Pragma("GCC pop_options")
#endif
#endif
