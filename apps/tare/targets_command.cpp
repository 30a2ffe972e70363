#include <memory>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli.hpp"
#include "lab/driver/packages.hpp"
#include "lab/driver/registry.hpp"
#include "lab/driver/workload.hpp"
#include "lab/gateway/target.hpp"

namespace tare::cli {
namespace {

struct TargetLine {
  std::string bench;
  std::string id;
  std::string lane;
  bool available = false;
  std::optional<std::string> program;
  std::optional<std::string> reason;
  std::optional<std::string> hint;
};
BOOST_DESCRIBE_STRUCT(TargetLine, (), (bench, id, lane, available, program, reason, hint))

TargetLine line_of(std::string_view bench, const driver::TargetSpec& spec) {
  TargetLine line{std::string(bench), spec.id, spec.lane, !spec.unavailable, {}, {}, {}};
  if (!spec.program.empty()) line.program = spec.program.string();
  if (spec.unavailable) {
    line.reason = spec.unavailable->reason;
    if (!spec.unavailable->hint.empty()) line.hint = spec.unavailable->hint;
  }
  return line;
}

/// The gateways of the bench `gateway` that are started, not found running.
TargetLine gateway_line(lab_gateway::TargetKind kind, std::string id) {
  TargetLine line{"gateway", std::move(id), "subject", true, {}, {}, {}};
  try {
    lab_gateway::TargetWish wish;
    wish.kind = kind;
    line.program = lab_gateway::find_target(wish).program.string();
  } catch (const Error& error) {
    line.available = false;
    line.reason = error.what();
    if (!error.hint().empty()) line.hint = error.hint();
  }
  return line;
}

enum class Format { table, json };

int list_targets(driver::RegistryOptions options, Format format) {
  std::vector<TargetLine> lines;
  for (const std::string_view bench : {driver::spawn_bench, driver::agents_bench, driver::import_bench}) {
    options.bench = bench;
    for (const driver::TargetSpec& spec : driver::builtin_targets(options))
      lines.push_back(line_of(bench, spec));
  }
  lines.push_back(gateway_line(lab_gateway::TargetKind::embedded, "embedded"));
  lines.push_back(gateway_line(lab_gateway::TargetKind::openclaw, "openclaw"));
  if (format == Format::json) {
    write_stdout(json::pretty(lines));
    return exit_ok;
  }
  std::string out;
  for (const TargetLine& line : lines) {
    out += fmt::format("{:<8}{:<12}{:<11}", line.bench, line.id, line.lane);
    if (line.available) {
      out += "available" + (line.program ? "    " + *line.program : "");
    } else {
      out += "unavailable  " + line.reason.value_or("") + (line.hint ? "; " + *line.hint : "");
    }
    out += '\n';
  }
  write_stdout(out);
  return exit_ok;
}

int install_target(const std::string& name, Context& context) {
  const Interrupt interrupt;
  driver::PackageOptions options;
  options.interrupt_fd = interrupt.fd();
  const std::string place = (options.cache / name).string();
  const bool known = driver::package_names(options).size() > 0;
  if (known && driver::is_installed(name, options)) {
    context.err.write(fmt::format("{} is installed in {}\n", name, place));
    return exit_ok;
  }
  driver::install(name, options);
  context.err.write(fmt::format("installed {} in {}\n", name, place));
  return exit_ok;
}

}  // namespace

void add_targets(CLI::App& app, Context& context) {
  struct Flags {
    std::optional<std::string> node;
    bool json = false;
    std::string name;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* targets = app.add_subcommand("targets", "What can be measured here, and why the rest can't");
  add_text(*targets, "--node", flags->node,
           "Node.js of the reference lane: PREFIX/bin/node (default: the pinned one)", "PREFIX");
  targets->add_flag("--json", flags->json, "As JSON");
  targets->require_subcommand(0, 1);
  targets->footer(
      "Examples:\n"
      "  tare targets\n"
      "  tare targets install node      the pinned Node.js, from npm, into the cache folder");
  CLI::App* install =
      targets->add_subcommand("install", "Put a target's pinned npm packages into the cache folder");
  install->add_option("NAME", flags->name, "Which target")->required();
  targets->callback([flags, &context, install] {
    if (install->parsed()) {
      context.action = [flags, &context] { return install_target(flags->name, context); };
      return;
    }
    context.action = [flags] {
      driver::RegistryOptions options;
      if (flags->node) options.node_prefix = *flags->node;
      return list_targets(options, flags->json ? Format::json : Format::table);
    };
  });
}

}  // namespace tare::cli
