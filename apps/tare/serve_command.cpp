#include "serve_command.hpp"

#include <csignal>

#include <sys/prctl.h>

namespace tare::cli {
namespace {

/// For what starts a server for itself: one that is killed can stop nothing.
void add_end_with_parent(CLI::App& command) {
  command.add_flag_callback("--end-with-parent", [] { ::prctl(PR_SET_PDEATHSIG, SIGTERM); })->group("");
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  CLI::App* serve = app.add_subcommand("serve", "Servers: the built-in gateway, a mock model server");
  serve->require_subcommand(1);
  serve->footer(
      "Examples:\n  tare serve provider --port 8081\n  tare serve gateway --provider-url "
      "http://127.0.0.1:8081/v1");
  add_serve_gateway(*serve, context);
  add_serve_provider(*serve, context);
  for (CLI::App* command : serve->get_subcommands([](const CLI::App*) { return true; }))
    add_end_with_parent(*command);
}

}  // namespace tare::cli
