#pragma once

#include <cnc/contract/methods.hpp>

namespace cnc::openmp {

using namespace methods;

/// What one row adds to the sums of a pass. Outside of any instruction set: methods, which are, call it.
struct RowTerms {
  double at[3] = {};
  template <class T>
  constexpr void operator()(int k, const T& a, const T& b) {
    at[k] = double(a) * double(b);
  }
};

}  // namespace cnc::openmp
