#pragma once

#include "harness/bench.hpp"

#include <cnc/convert.hpp>
#include <cnc/error.hpp>

#include <string>

namespace cnc::perf {

/// Calls measure(A, V(), precision) for each wanted precision of a product, where A stores what goes with
/// vectors of V. What is left out, and why, goes into the notes.
template <class Measure>
void for_each_product_precision(const TestMatrix& matrix, const BenchOptions& options,
                                Record& record, const Measure& measure) {
  if (matrix.A.nonzeros == 0) return record.notes.push_back(matrix.name + " left out: empty");
  if (options.wants("f64")) measure(matrix.A, double(), "f64");
  if (!options.wants("f32") && !options.wants("f32/f64")) return;
  CsrMatrix<float> narrow;
  try {
    narrow = convert_values<float>(matrix.A);
  } catch (const InvalidArgument& e) {
    return record.notes.push_back(matrix.name + " left out in f32: " + e.what());
  }
  if (options.wants("f32")) measure(narrow, float(), "f32");
  if (options.wants("f32/f64")) measure(narrow, double(), "f32/f64");
}

}  // namespace cnc::perf
