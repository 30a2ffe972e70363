#include <csignal>

#include "cli.hpp"
#include "runtime/agents_driver/driver.hpp"

namespace tare::cli {

void add_agents_driver(CLI::App& agents, Context& context) {
  CLI::App* driver = agents.add_subcommand(
      "driver", "The driver of the built-in registry: `tare agents` starts it (docs/driver-protocol.md)");
  driver->callback([&context] {
    context.action = [] {
      std::signal(SIGPIPE, SIG_IGN);  // a lab that is gone shows as EPIPE
      agents_driver::run();
      return exit_ok;
    };
  });
}

}  // namespace tare::cli
