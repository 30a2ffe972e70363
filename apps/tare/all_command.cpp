#include <memory>

#include "cli.hpp"
#include "spawn_command.hpp"

namespace tare::cli {

void add_all(CLI::App& app, Context& context) {
  struct Flags {
    spawn::RawOptions raw;
    OutputOptions output;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* all =
      app.add_subcommand("all", "Run every bench on the built-in targets (in this version: spawn)");
  all->add_flag("--quick", flags->raw.quick,
                "20 samples, 2 warm-ups, at most 8 processes at once: a first look");
  add_text(*all, "--node", flags->raw.node,
           "Node.js of the reference lane: PREFIX/bin/node (default: the pinned one)", "PREFIX");
  add_output_options(*all, flags->output);
  all->footer("Example:\n  tare all --quick --markdown out/report.md");
  all->callback([flags, &context] {
    context.action = [flags, &context] { return run_spawn(flags->raw, flags->output, context); };
  });
}

}  // namespace tare::cli
