#include "app.hpp"
#include "commands.hpp"
#include "memory.hpp"
#include "option_checks.hpp"
#include "output_file.hpp"
#include "session.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <cnc/backend.hpp>
#include <cnc/context.hpp>

#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

namespace cnc::cli {
namespace {

struct BackendsOptions {
  bool variants = false;
  std::string json;
};

/// What `auto` would take, "" when nothing is usable.
std::string automatic_choice(MemorySpace memory = MemorySpace::host) {
  try {
    return find_backend("auto", memory).name;
  } catch (const UnsupportedOperation&) {
    return "";
  }
}

nlohmann::json to_json(bool variants) {
  nlohmann::json list = nlohmann::json::array();
  for (const Backend* backend : backends()) {
    if (backend->variant && !variants) continue;
    const Availability availability = availability_of(*backend);
    list.push_back({{"name", backend->name},
                    {"description", backend->description},
                    {"memory", to_string(backend->memory)},
                    {"built", true},
                    {"usable", availability.usable},
                    {"detail", availability.detail},
                    {"baseline", backend->baseline},
                    {"variant", backend->variant}});
  }
  for (const AbsentBackend& absent : absent_backends()) {
    if (absent.variant && !variants) continue;
    list.push_back({{"name", absent.name},
                    {"description", absent.description},
                    {"memory", to_string(absent.memory)},
                    {"built", false},
                    {"usable", false},
                    {"detail", absent.detail},
                    {"baseline", absent.baseline},
                    {"variant", absent.variant}});
  }
  nlohmann::json json = {{"auto", automatic_choice()}, {"backends", list}};
  const std::string on_device = automatic_choice(MemorySpace::device);
  json["auto_on_device"] = on_device.empty() ? nlohmann::json() : nlohmann::json(on_device);
  return json;
}

/// Two lines each: what it runs on, or why it cannot, then what it is.
void print_backend(const std::string& name, const std::string& memory,
                   const Availability& availability, const std::string& description) {
  const std::string mark(availability.usable ? glyph("✓", "+") : glyph("✗", "-"));
  std::cout << "  " << styled(availability.usable ? Style::good : Style::bad, mark) << ' '
            << styled(Style::bold, pad_right(name, 20)) << pad_right(memory, 8)
            << availability.detail << '\n'
            << "    " << std::string(20, ' ') << styled(Style::dim, description) << '\n';
}

void print_list(bool variants) {
  for (const Backend* backend : backends()) {
    if (backend->variant && !variants) continue;
    print_backend(backend->name, to_string(backend->memory), availability_of(*backend),
                  backend->description);
  }
  for (const AbsentBackend& absent : absent_backends())
    if (!absent.variant || variants)
      print_backend(absent.name, to_string(absent.memory), {false, absent.detail},
                    absent.description);
  const std::string chosen = automatic_choice();
  const std::string on_device = automatic_choice(MemorySpace::device);
  if (chosen.empty()) return;
  std::cout << "\n  " << glyph("✓", "+") << " usable here; auto is " << styled(Style::bold, chosen);
  if (!on_device.empty()) std::cout << ", with --memory device " << styled(Style::bold, on_device);
  std::cout << ".\n";
}

int list_backends(const BackendsOptions& options) {
  check_writable(options.json);
  const Session session(0);
  if (options.json != "-") print_list(options.variants);
  if (!options.json.empty())
    write_output(options.json,
                 [&](std::ostream& out) { out << to_json(options.variants).dump(2) << '\n'; });
  return exit_ok;
}

}  // namespace

void add_backends(CLI::App& app, Action& action) {
  auto options = std::make_shared<BackendsOptions>();
  CLI::App* command =
      app.add_subcommand("backends", "List the kernel sets and whether they run here");
  command->add_flag("--variants", options->variants, "Also list single-instruction-set variants");
  command->add_option("--json", options->json, "Write the list as JSON ('-': standard output)")
      ->check(not_empty)
      ->type_name("FILE");
  command->callback([options, &action] { action = [options] { return list_backends(*options); }; });
}

}  // namespace cnc::cli
