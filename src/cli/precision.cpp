#include "precision.hpp"

#include <cnc/error.hpp>

namespace cnc::cli {

const char* to_string(Precision precision) {
  switch (precision) {
    case Precision::f32: return "f32";
    case Precision::f64: return "f64";
    case Precision::f32_f64: return "f32/f64";
  }
  return "";
}

Precision parse_precision(const std::string& text) {
  for (const Precision precision : precisions)
    if (text == to_string(precision)) return precision;
  throw InvalidArgument("unknown precision '" + text + "' (known: f64, f32, f32/f64)");
}

}  // namespace cnc::cli
