#include "serve_command.hpp"

namespace tare::cli {

void add_serve(CLI::App& app, Context& context) {
  CLI::App* serve = app.add_subcommand("serve", "Servers: the built-in gateway, a mock model server");
  serve->require_subcommand(1);
  serve->footer(
      "Examples:\n  tare serve provider --port 8081\n  tare serve gateway --provider-url "
      "http://127.0.0.1:8081/v1");
  add_serve_gateway(*serve, context);
  add_serve_provider(*serve, context);
}

}  // namespace tare::cli
