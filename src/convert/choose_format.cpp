#include <cnc/formats.hpp>

#include <cstdio>
#include <string>

namespace cnc {
namespace {

/// A spec with what its format expects of it.
struct Candidate {
  FormatSpec spec;
  double bytes = 0;
  double efficiency = 1;
  double time() const { return bytes / efficiency; }
};

/// Calls visit(format, spec) for every format at every block size that is full enough.
template <class Visit>
void for_each_spec(const Structure& structure, double min_density, const Visit& visit) {
  for (const auto& format : formats<double>()) {
    if (format.smallest_block_size <= 1) visit(format, FormatSpec{format.name, 1});
    if (!format.has_blocks) continue;
    for (const BlockOccupancy& occupancy : structure.occupancy)
      if (occupancy.block_size >= format.smallest_block_size && occupancy.density >= min_density)
        visit(format, FormatSpec{format.name, occupancy.block_size});
  }
}

std::string describe(const Structure& structure, const Candidate& candidate) {
  char per_nonzero[60] = "";
  if (structure.nonzeros > 0)
    std::snprintf(per_nonzero, sizeof per_nonzero, " (%.2f bytes per nonzero)",
                  candidate.bytes / static_cast<double>(structure.nonzeros));
  char text[160];
  std::snprintf(text, sizeof text, "%s: %.3g MB%s, expected to stream at %.0f %% of memory speed",
                candidate.spec.text().c_str(), candidate.bytes * 1e-6, per_nonzero,
                candidate.efficiency * 100);
  return text;
}

}  // namespace

std::vector<FormatSpec> comparable_formats(const Structure& structure, double min_density) {
  std::vector<FormatSpec> specs;
  for_each_spec(structure, min_density, [&](const auto& format, const FormatSpec& spec) {
    if (format.predicted_bytes(structure, spec, sizeof(double)) >= 0) specs.push_back(spec);
  });
  return specs;
}

FormatAdvice choose_format(const Structure& structure, int value_bytes, MemorySpace memory,
                           int csr_value_bytes) {
  if (csr_value_bytes == 0) csr_value_bytes = value_bytes;
  for (const int bytes : {value_bytes, csr_value_bytes})
    require(bytes == 4 || bytes == 8, "choose_format: values have 4 or 8 bytes");
  // Blocks less than half full cost more bytes than CSR in either precision.
  constexpr double min_density = 0.5;
  FormatAdvice advice;
  Candidate best;
  for_each_spec(structure, min_density, [&](const auto& format, const FormatSpec& spec) {
    const int its_value_bytes = spec.name == "csr" ? csr_value_bytes : value_bytes;
    const double bytes = format.predicted_bytes(structure, spec, its_value_bytes, memory);
    if (bytes < 0) {
      advice.reasons.push_back(spec.text() + ": cannot hold this matrix");
      return;
    }
    const Candidate candidate{spec, bytes,
                              format.expected_efficiency(structure, spec, its_value_bytes, memory)};
    advice.reasons.push_back(describe(structure, candidate));
    // Only a real gain replaces an earlier, simpler format.
    if (best.spec.name == "auto" || candidate.time() < best.time()) best = candidate;
  });
  advice.format = best.spec;
  advice.reasons.push_back("chosen: " + best.spec.text() +
                           ", with the least bytes for its expected speed");
  return advice;
}

}  // namespace cnc
