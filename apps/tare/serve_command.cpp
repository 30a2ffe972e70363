#include "serve_command.hpp"

namespace tare::cli {

void add_serve(CLI::App& app, Context& context) {
  CLI::App* serve = app.add_subcommand("serve", "Servers for tests and measurements");
  serve->require_subcommand(1);
  serve->footer("Example:\n  tare serve provider --port 8081");
  add_serve_provider(*serve, context);
}

}  // namespace tare::cli
