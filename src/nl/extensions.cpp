// nlInitExtension and nlInitialize.
#include "nl/extensions.hpp"

#include "nl/call.hpp"

#include <cnc/backend.hpp>

#include <algorithm>
#include <atomic>
#include <string_view>

namespace cnc::nl {
namespace {

/// A backend as OpenNL would call it, and whether it was asked for.
struct DeviceExtension {
  std::string_view extension, backend;
  std::atomic<bool> is_on = false;
};
DeviceExtension devices[2] = {{"CUDA", "cuda"}, {"HIP", "hip"}};

std::atomic<bool> single_precision = false;

constexpr std::string_view known_extensions[] = {"SUPERLU", "CHOLMOD", "ARPACK", "MKL", "AMGCL"};

bool is_usable(std::string_view name) {
  for (const Backend* backend : backends()) {
    if (name != backend->name || backend->memory != MemorySpace::device) continue;
    start_kokkos();
    return availability_of(*backend).usable;
  }
  return false;
}

DeviceExtension* device_named(std::string_view extension) {
  const auto found = std::find_if(std::begin(devices), std::end(devices),
                                  [&](const auto& known) { return known.extension == extension; });
  return found == std::end(devices) ? nullptr : found;
}

bool init(std::string_view extension) {
  DeviceExtension* const device = device_named(extension);
  if (device == nullptr) return extension == "CNC";
  if (!device->is_on && is_usable(device->backend)) device->is_on = true;
  return device->is_on;
}

void take_setting(std::string_view name, std::string_view value) {
  const std::string text(name);
  if (name == "CUDA:matrix_format") {
    if (value != "fp64" && value != "fp32" && value != "fp32_precond")
      fail(NL_INVALID_VALUE_CNC, text + " is fp64, fp32 or fp32_precond");
    single_precision = value == "fp32";
  } else if (value == "true") {
    const bool is_there = init(name);
    print_line(is_there ? stdout : stderr,
               "nl: " + text + (is_there ? " is initialized" : " is not offered here"));
  } else if (value != "false" ||
             (device_named(name) == nullptr && name != "CNC" &&
              std::find(std::begin(known_extensions), std::end(known_extensions), name) ==
                  std::end(known_extensions))) {
    fail(NL_INVALID_VALUE_CNC, "nl:" + text + "=" + std::string(value) + " is not known");
  }
}

}  // namespace

bool solves_on_device() {
  return std::any_of(std::begin(devices), std::end(devices),
                     [](const auto& device) { return device.is_on.load(); });
}

bool stores_single_precision() { return single_precision; }

}  // namespace cnc::nl

using namespace cnc::nl;

NLboolean nlInitExtension(const char* extension) {
  return guarded("nlInitExtension", NLboolean{NL_FALSE}, [&] {
    require_pointer(extension);
    return static_cast<NLboolean>(init(extension));
  });
}

NLboolean nlExtensionIsInitialized(const char* extension) {
  return guarded("nlExtensionIsInitialized", NLboolean{NL_FALSE}, [&] {
    require_pointer(extension);
    const DeviceExtension* const device = device_named(extension);
    const bool is_on =
        device == nullptr ? extension == std::string_view("CNC") : device->is_on.load();
    return static_cast<NLboolean>(is_on);
  });
}

void nlInitialize(int argc, char** argv) {
  for (int i = 1; i < argc && argv != nullptr && argv[i] != nullptr; ++i)
    guarded("nlInitialize", [&] {
      const std::string_view argument(argv[i]);
      const std::size_t equals = argument.find('=');
      if (argument.substr(0, 3) != "nl:" || equals == std::string_view::npos) return;
      take_setting(argument.substr(3, equals - 3), argument.substr(equals + 1));
    });
}
