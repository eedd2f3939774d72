#include "option_checks.hpp"

#include <cnc/formats.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace cnc::cli {

std::string not_negative(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool good = !text.empty() && *end == '\0' && std::isfinite(value) && value >= 0;
  return good ? "" : "'" + text + "' is not a finite number >= 0";
}

std::string not_empty(const std::string& text) { return text.empty() ? "is empty" : ""; }

std::string known_formats() {
  std::string names;
  for (const FormatInfo<double>& format : formats<double>())
    names +=
        (names.empty() ? "" : ", ") + std::string(format.name) + (format.has_blocks ? ":B" : "");
  return names;
}

CLI::Option* add_partition_option(CLI::App& command, std::string& partition) {
  return command
      .add_option("--partition", partition,
                  "Of several processes: segments (consecutive rows), or graph (METIS: few entries "
                  "that couple them)")
      ->check(CLI::IsMember({"segments", "graph"}))
      ->type_name("NAME")
      ->capture_default_str();
}

CLI::Option* add_link_option(CLI::App& command, std::string& link) {
  return command
      .add_option("--link", link,
                  "Of several devices: how they exchange at best, devices (each other's memory), "
                  "messages (NCCL, RCCL), mpi (one that sees their memory), or host (any MPI)")
      ->check(CLI::IsMember({"devices", "messages", "mpi", "host"}))
      ->type_name("NAME")
      ->capture_default_str();
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    if (!part.empty() && std::find(parts.begin(), parts.end(), part) == parts.end())
      parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

std::string not_empty_list(const std::string& text) {
  return split_list(text).empty() ? "is empty" : "";
}

}  // namespace cnc::cli
