// No include guard: opens the region in which the generic kernels are compiled for one instruction
// set. The including file defines CNC_ISA (a namespace name), CNC_ISA_TARGET (a target string, or
// nothing for the compiler's own default) and CNC_ISA_VECTOR_BYTES. Every header that the kernels need
// must be included before, so that nothing but kernels is compiled with the wider instructions: that
// is what keeps inline functions of other headers free of them.
#define CNC_PRAGMA(text) _Pragma(#text)
#define CNC_PRAGMA_TEXT(text) CNC_PRAGMA(text)
#if defined(CNC_ISA_TARGET)
#if defined(__clang__)
CNC_PRAGMA_TEXT(clang attribute push(__attribute__((target(CNC_ISA_TARGET))), apply_to = function))
#else
_Pragma("GCC push_options") CNC_PRAGMA_TEXT(GCC target(CNC_ISA_TARGET))
#endif
#endif
