#pragma once

#include "compare_measure.hpp"
#include "matrix_source.hpp"

#include <iosfwd>

namespace cnc::cli {

void print_comparison(std::ostream& out, const Comparison& comparison);
void write_comparison_json(std::ostream& out, const LoadedMatrix& matrix,
                           const Comparison& comparison);

}  // namespace cnc::cli
