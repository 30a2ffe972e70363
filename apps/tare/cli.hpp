#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "lab/report/terminal.hpp"

/// The command line. Each subcommand is one file with one `add_…` function, which declares the flags and
/// leaves what to do in `Context::action`; main runs it and turns its result into the exit code.
namespace tare::cli {

struct Context {
  std::vector<std::string> command;                        ///< as typed
  std::optional<std::vector<std::string>> set_apart = {};  ///< of `guest run`: the words behind --
  SystemClock clock;
  report::DescriptorTerminal err{2};  ///< tables, progress and messages
  report::DescriptorTerminal out{1};  ///< data, and what a command was asked to list
  std::function<int()> action;
};

void add_spawn(CLI::App& app, Context& context);
void add_agents(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_guest(CLI::App& app, Context& context);
void add_serve(CLI::App& app, Context& context);
void add_gateway(CLI::App& app, Context& context);
void add_all(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_gate(CLI::App& app, Context& context);
void add_calibrate(CLI::App& app, Context& context);
void add_targets(CLI::App& app, Context& context);
void add_driver(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_completions(CLI::App& app, Context& context);

/// An option that takes one text, kept apart from "not given". Given twice, it is an error.
CLI::Option* add_text(CLI::App& app, const std::string& flag, std::optional<std::string>& value,
                      const std::string& description, const std::string& placeholder);

/// Writes to stdout. Throws Error(failed) when it can't take it (a closed pipe, a full disk).
void write_stdout(std::string_view text);

/// One line for a person on stderr.
void complain(Context& context, const Error& error);

}  // namespace tare::cli
