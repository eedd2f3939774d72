#include "mesh_program.hpp"

#include "cli/program.hpp"
#include "cli/streams.hpp"

#include <cnc/version.hpp>

#include <CLI/CLI.hpp>

#include <new>

namespace cnc::cli {

int run_mesh_program(CLI::App& app, const Action& action, int argc, char** argv) {
  secure_streams();
  try {
    app.set_version_flag("--version", app.get_name() + " " + version_string,
                         "Print the version and exit");
    app.get_formatter()->column_width(36);
    app.footer(
        "Vertices are counted from 1. Exit code: 0 converged, 1 not converged (the result is still "
        "written), 2 bad usage or input.");
    return parse_and_run(app, action, argc, argv);
  } catch (const std::bad_alloc&) {
    return complain(app.get_name(), "out of memory");
  } catch (const std::exception& e) {
    return complain(app.get_name(), e.what());
  }
}

}  // namespace cnc::cli
