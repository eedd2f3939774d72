#pragma once

#include <string>

namespace cnc::cli {

/// Types of the matrix and of the vectors: "f32/f64" is a float matrix under double vectors.
enum class Precision { f32, f64, f32_f64 };

inline constexpr Precision precisions[] = {Precision::f64, Precision::f32, Precision::f32_f64};

const char* to_string(Precision precision);

/// Reads "f32", "f64" or "f32/f64".
/// Errors   InvalidArgument naming the text and what is known.
Precision parse_precision(const std::string& text);

}  // namespace cnc::cli
