#include <memory>

#include <fmt/format.h>

#include "base/flag.hpp"
#include "base/interrupt.hpp"
#include "base/json.hpp"
#include "cli.hpp"
#include "lab/driver/check.hpp"
#include "lab/driver/registry.hpp"

namespace tare::cli {
namespace {

using driver::CheckResult;
using driver::CheckStatus;

struct CheckFlags {
  std::optional<std::string> timeout;
  bool json = false;
  std::vector<std::string> command;
};

report::Tone tone_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::pass:
      return report::Tone::good;
    case CheckStatus::fail:
      return report::Tone::bad;
    case CheckStatus::skip:
      return report::Tone::plain;
  }
  return report::Tone::plain;
}

int check(const CheckFlags& flags, Context& context) {
  if (flags.command.empty()) {
    throw Error(ErrorCode::usage, "no driver to check", "",
                "put its command after --: `tare driver check -- ./my_driver`");
  }
  const Interrupt interrupt;
  driver::CheckOptions options;
  options.driver.interrupt_fd = interrupt.fd();
  if (flags.timeout)
    options.timeout = std::chrono::seconds(whole_number("--timeout", *flags.timeout, {1, 3600}));
  const report::Colour colour = context.err.facts().colour;
  std::map<CheckStatus, int> counts;
  try {
    const auto results =
        driver::check_driver({flags.command.front(),
                              flags.command,
                              {{driver::node_variable, driver::node_program({}).string()}},
                              {}},
                             options, [&](const CheckResult& result) {
                               counts[result.status] += 1;
                               const std::string status = boost::describe::enum_to_string(result.status, "?");
                               context.err.write(fmt::format(
                                   "{}  {:<24} {}\n", report::paint(status, tone_of(result.status), colour),
                                   result.id, result.text));
                             });
    if (flags.json) write_stdout(json::pretty(results));
  } catch (const driver::DriverFailure&) {
    if (!interrupt.signal()) throw;
    context.err.write("tare: interrupted\n");
    return *interrupt.signal() == SIGINT ? exit_interrupted : exit_terminated;
  }
  context.err.write(fmt::format("{} passed, {} failed, {} skipped\n", counts[CheckStatus::pass],
                                counts[CheckStatus::fail], counts[CheckStatus::skip]));
  return counts[CheckStatus::fail] == 0 ? exit_ok : exit_failed;
}

}  // namespace

void add_driver(CLI::App& app, Context& context) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* driver = app.add_subcommand("driver", "Drivers of your own: docs/driver-protocol.md");
  driver->require_subcommand(1);
  CLI::App* command = driver->add_subcommand("check", "Does a driver keep the rules of the protocol?");
  add_text(*command, "--timeout", flags->timeout, "Limit of one operation, 1 to 3600 (default 30)",
           "SECONDS");
  command->add_flag("--json", flags->json, "The results on stdout as JSON");
  command->add_option("COMMAND", flags->command, "The driver and its arguments, after --");
  command->footer("Example:\n  tare driver check -- python3 my_driver.py");
  command->callback(
      [flags, &context] { context.action = [flags, &context] { return check(*flags, context); }; });
}

}  // namespace tare::cli
