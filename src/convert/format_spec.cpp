#include "block_size_text.hpp"
#include "convert/spaces.hpp"

#include <cnc/formats.hpp>

#include <string>

namespace cnc {
namespace {

const FormatInfo<double>* find_format(std::string_view name) {
  for (const auto& format : formats<double>())
    if (format.name == name) return &format;
  return nullptr;
}

std::string known_formats() {
  std::string text = "auto";
  for (const auto& format : formats<double>())
    text += std::string(", ") + format.name + (format.has_blocks ? "[:B]" : "");
  return text;
}

[[noreturn]] void refuse(std::string_view text, const std::string& reason) {
  detail::throw_invalid("format '" + std::string(text) + "': " + reason);
}

}  // namespace

std::string FormatSpec::text() const {
  const auto* format = find_format(name);
  return format != nullptr && format->has_blocks ? name + ":" + std::to_string(block_size) : name;
}

FormatSpec parse_format(std::string_view text) {
  const std::size_t colon = text.find(':');
  FormatSpec spec;
  spec.name = text.substr(0, colon);
  const auto* format = find_format(spec.name);
  if (format == nullptr && spec.name != "auto")
    refuse(text, "unknown; known are " + known_formats() + " with B from 1 to " +
                     std::to_string(max_block_size));
  if (colon == std::string_view::npos) return spec;

  if (format == nullptr || !format->has_blocks) refuse(text, spec.name + " takes no block size");
  spec.block_size = detail::read_block_size(text.substr(colon + 1));
  if (spec.block_size == 0)
    refuse(text,
           "the block size must be a whole number from 1 to " + std::to_string(max_block_size));
  return spec;
}

template <class T, class Space>
Matrix<T, Space> build_format(const CsrMatrix<T, Space>& A, const FormatSpec& spec) {
  if (spec.name == "auto") {
    const int value_bytes = static_cast<int>(sizeof(T));
    return build_format(A, choose_format(analyze(A), value_bytes, memory_of<Space>).format);
  }
  for (const auto& format : formats<T, Space>())
    if (format.name == spec.name) return format.build(A, spec);
  refuse(spec.name, "unknown; known are " + known_formats());
}

template Matrix<float> build_format(const CsrMatrix<float>&, const FormatSpec&);
template Matrix<double> build_format(const CsrMatrix<double>&, const FormatSpec&);
#ifdef CNC_KOKKOS_HAS_DEVICE
template Matrix<float, detail::DeviceSpace> build_format(
    const CsrMatrix<float, detail::DeviceSpace>&, const FormatSpec&);
template Matrix<double, detail::DeviceSpace> build_format(
    const CsrMatrix<double, detail::DeviceSpace>&, const FormatSpec&);
#endif

}  // namespace cnc
