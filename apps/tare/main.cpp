#include <algorithm>
#include <csignal>
#include <exception>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli.hpp"

namespace {

using tare::Error;
using tare::ErrorCode;

constexpr const char* description =
    "Tare measures what an AI-agent runtime adds: the same operation on the bare machine, in plain Node.js\n"
    "and inside the runtime, side by side in one run, with intervals, every sample checked.";

constexpr const char* footer =
    "Examples:\n"
    "  tare all --quick                              a first look, under 3 minutes\n"
    "  tare spawn --targets native,node              what starting a process costs\n"
    "  tare spawn --target mine=driver:./my_driver   your own runtime beside them\n"
    "  tare agents --quick                           what keeping child agents costs, in memory and on disk\n"
    "  tare import --quick                           what booting an isolate and loading code costs\n"
    "  tare compare base.json new.json               what changed, and how sure is it?\n"
    "  tare gate --baseline base.json new.json       does the change keep the budgets of tare.toml?\n"
    "  tare doctor                                   is this machine fit to measure on?\n"
    "\n"
    "Exit codes: 0 measured, all held · 1 a measurement or an invariant failed · 2 bad command line, "
    "configuration\n"
    "or input file · 3 a budget failed · 4 a budget was inconclusive · 130, 143 interrupted, partial "
    "document written";

/// The deepest subcommand that was named: its help is the one to point at.
const CLI::App* named(const CLI::App& app) {
  for (const CLI::App* sub : app.get_subcommands()) return named(*sub);
  return &app;
}

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

/// The first word of the command line that the library could not place.
std::string first_extra(const CLI::App& app, const std::vector<std::string>& command) {
  const std::vector<std::string> extras = app.remaining(true);
  for (const std::string& word : command) {
    if (std::find(extras.begin(), extras.end(), word) != extras.end()) return word;
  }
  return extras.empty() ? "" : extras.front();
}

std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(sub->get_name());
  for (const CLI::Option* option : app.get_options()) known.push_back(option->get_name());
  return known;
}

/// The library's message as the clause of one line: "--rows given more than once".
Error usage_error(const CLI::App& app, const CLI::ParseError& error,
                  const std::vector<std::string>& command) {
  const CLI::App& at = *named(app);
  std::string what = error.what();
  std::string hint = fmt::format("see `{} --help`", full_name(at));
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::ExtrasError: {
      const std::string word = first_extra(app, command);
      what = fmt::format("unknown {} '{}'", word.starts_with("-") ? "flag" : "argument", word);
      if (const auto near = tare::text::did_you_mean(word, known_words(at)))
        hint = fmt::format("did you mean '{}'? {}", *near, hint);
      break;
    }
    case CLI::ExitCodes::ArgumentMismatch: {
      const bool repeated = what.find("At Most") != std::string::npos;
      what = what.substr(0, what.find(':')) + (repeated ? " given more than once" : " needs a value");
      break;
    }
    default:
      break;
  }
  return Error(ErrorCode::usage, what, "", hint);
}

/// Where the words of a guest begin that are set apart with --, or argc. The library would take them for
/// words of the command above `run`, as that has no positional arguments of its own.
int end_of_flags(int argc, char** argv) {
  if (argc < 3 || std::string_view(argv[1]) != "guest" || std::string_view(argv[2]) != "run") return argc;
  return static_cast<int>(std::find(argv + 3, argv + argc, std::string_view("--")) - argv);
}

int run(int argc, char** argv) {
  tare::cli::Context context;
  context.command.assign(argv, argv + argc);
  if (!context.command.empty()) context.command.front() = "tare";
  const int end = end_of_flags(argc, argv);
  if (end < argc) context.set_apart.emplace(argv + end + 1, argv + argc);

  CLI::App app(description, "tare");
  app.set_version_flag("--version",
                       fmt::format("tare {} ({}, {})", tare::version(), tare::commit(), tare::build()));
  app.footer(footer);
  app.require_subcommand(0, 1);
  tare::cli::add_all(app, context);
  tare::cli::add_spawn(app, context);
  tare::cli::add_agents(app, context);
  tare::cli::add_import(app, context);
  tare::cli::add_guest(app, context);
  tare::cli::add_gateway(app, context);
  tare::cli::add_serve(app, context);
  tare::cli::add_compare(app, context);
  tare::cli::add_gate(app, context);
  tare::cli::add_calibrate(app, context);
  tare::cli::add_targets(app, context);
  tare::cli::add_driver(app, context);
  tare::cli::add_doctor(app, context);
  tare::cli::add_completions(app, context);

  try {
    app.parse(end, argv);
    if (!context.action) {
      tare::cli::write_stdout(app.help());
      return tare::exit_ok;
    }
    return context.action();
  } catch (const CLI::CallForHelp&) {
    const CLI::App& at = *named(app);
    tare::cli::write_stdout(at.help(at.get_parent() == nullptr ? "" : full_name(*at.get_parent())));
    return tare::exit_ok;
  } catch (const CLI::CallForVersion& version) {
    tare::cli::write_stdout(std::string(version.what()) + "\n");
    return tare::exit_ok;
  } catch (const CLI::ParseError& error) {
    const Error line = usage_error(app, error, context.command);
    tare::cli::complain(context, line);
    return line.exit_code();
  } catch (const Error& error) {
    tare::cli::complain(context, error);
    return error.exit_code();
  } catch (const std::exception& error) {
    tare::cli::complain(context,
                        Error(ErrorCode::failed, "an unexpected error", error.what(), "please report it"));
    return tare::exit_failed;
  }
}

/// A standard descriptor that is closed would be the first file or socket that is opened, a database for one,
/// and get what is said on stderr. It stays as useless as it was: what it stands for is the wrong way round.
void occupy_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is taken, and those below are not free any more.
    if (::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  // A reader that went away or a file that grew too large is an error of write(), not the end of this
  // program.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    std::fputs((error.line() + "\n").c_str(), stderr);
    return error.exit_code();
  }
}
