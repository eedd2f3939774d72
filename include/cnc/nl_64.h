#ifndef CNC_NL_64_H
#define CNC_NL_64_H

/* Calls with indices of 64 bits, for C++ programs that define GARGANTUA. One that 32 bits do not hold is out of range. */

#include <cnc/nl.h>

inline NLuint nlTo32(NLulong i) { return i < 0xffffffffu ? static_cast<NLuint>(i) : 0xffffffffu; }

inline void nlSetVariable(NLulong i, NLdouble value) { nlSetVariable(nlTo32(i), value); }
inline NLdouble nlGetVariable(NLulong i) { return nlGetVariable(nlTo32(i)); }
inline NLdouble nlMultiGetVariable(NLulong i, NLulong k) {
  return nlMultiGetVariable(nlTo32(i), nlTo32(k));
}
inline void nlLockVariable(NLulong i) { nlLockVariable(nlTo32(i)); }
inline NLboolean nlVariableIsLocked(NLulong i) { return nlVariableIsLocked(nlTo32(i)); }
inline void nlCoefficient(NLulong i, NLdouble value) { nlCoefficient(nlTo32(i), value); }
inline NLulong nlAddIJCoefficient(NLulong i, NLulong j, NLdouble value) {
  return nlAddIJCoefficient(nlTo32(i), nlTo32(j), value);
}
inline void nlAddIJCoefficientAt(NLulong i, NLulong j, NLdouble value, NLulong index) {
  nlAddIJCoefficientAt(nlTo32(i), nlTo32(j), value, index);
}
inline void nlSetIJCoefficientAtRowOffset(NLulong i, NLulong j, NLdouble value, NLulong offset) {
  nlSetIJCoefficientAtRowOffset(nlTo32(i), nlTo32(j), value, nlTo32(offset));
}
inline void nlAddIRightHandSide(NLulong i, NLdouble value) {
  nlAddIRightHandSide(nlTo32(i), value);
}
inline double nlGetEigenValue(NLulong i) { return nlGetEigenValue(nlTo32(i)); }
inline double nlGetEigenValue(int i) { return nlGetEigenValue(static_cast<NLuint>(i)); }

#endif
