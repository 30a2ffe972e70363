#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/flag.hpp"
#include "cli.hpp"
#include "guest_run.hpp"
#include "lab/bench/spawn/trace.hpp"
#include "runtime/guest_driver/driver.hpp"

namespace tare::cli {
namespace {

/// The words after the flags: a flag first among them is one that this command does not have, unless it was
/// set apart with --. A -- behind the first of them is the guest's.
std::vector<std::string> guest_words(const CLI::App& run, const Context& context) {
  std::vector<std::string> words = run.remaining();
  if (!words.empty() && words.front().size() > 1 && words.front().front() == '-') {
    throw Error(ErrorCode::usage, "unknown flag '" + words.front() + "'", "",
                "see `tare guest run --help`; arguments of the guest come after the file, or after --");
  }
  if (!context.set_apart) return words;
  if (!words.empty()) words.emplace_back("--");
  words.insert(words.end(), context.set_apart->begin(), context.set_apart->end());
  return words;
}

void add_run(CLI::App& guest, Context& context) {
  auto flags = std::make_shared<GuestRunFlags>();
  CLI::App* run =
      guest.add_subcommand("run", "Run JavaScript as a guest, with this terminal's input and output");
  run->prefix_command();
  add_text(
      *run, "--allow", flags->allow,
      "Permissions besides fs and childProcess, which stay inside the guest's machine: network, env, all",
      "LIST");
  add_text(*run, "--deny", flags->deny, "Permissions to take away: fs, childProcess, network, env, all",
           "LIST");
  run->add_option(
         "--mount", flags->mounts,
         "A folder of this machine that the guest sees; rw: and may change. A file that a process of it "
         "has written comes back when that has ended")
      ->type_name("HOST:GUEST[:ro|:rw]")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  add_text(*run, "--cwd", flags->cwd, "Folder that it starts in (default /root)", "GUEST");
  add_text(*run, "--memory", flags->memory, "Limit of its heap, 16 to 65536 (default 128)", "MB");
  add_text(*run, "--files", flags->files,
           "Limit of its files, with what it has written into mounts and is not back yet, 1 to 65536 "
           "(default 256)",
           "MB");
  add_text(*run, "--timeout", flags->timeout, "Limit of its time", "SECONDS");
  add_text(*run, "--pool", flags->pool, "Isolates kept ready for its children, 0 to 256 (default 0)", "N");
  add_text(
      *run, "--library", flags->library,
      "How much of Node's library is loaded from the start: small; modules, the loader of ES modules, too; "
      "or large, what they import most, too (default small)",
      "WHICH");
  add_text(*run, "-e,--eval", flags->code, "Run this instead of a file", "CODE");
  add_text(*run, "--cpu-prof", flags->cpu_profile,
           "Write where its time went, for Chrome's developer tools (.cpuprofile)", "FILE");
  add_text(*run, "--heap-prof", flags->heap_profile,
           "Write who allocated what it held at its end, sampled (.heapprofile)", "FILE");
  // Not as a word of its own, which would be the script's name as often as not.
  run->add_flag("--trace", flags->trace,
                "Count the stages of the engine's work; print them on stderr at the end, or write them to "
                "FILE with --trace=FILE");
  run->footer(
      "After the flags comes a FILE, or - for a script on stdin, then the guest's own arguments.\n"
      "\n"
      "The guest sees no process or network of this machine, and no file but those of --mount. FILE is put\n"
      "into its own machine as /root/NAME, unless it lies in a mount. Of the environment it sees PATH, HOME\n"
      "and LANG unless env is allowed.\n"
      "\n"
      "Its exit code is that of this command; 128 + the number of a signal that killed it, 126 when it was\n"
      "refused, 125 when the engine was lost or a file could not be written back.\n"
      "\n"
      "Examples:\n"
      "  tare guest run -e 'console.log(process.version)'\n"
      "  echo '{\"a\":1}' | tare guest run filter.js --key a\n"
      "  tare guest run --mount .:/project:rw --cwd /project build.js\n"
      "  tare guest run --memory 64 --timeout 10 untrusted.js\n"
      "  tare guest run --cpu-prof busy.cpuprofile busy.js\n"
      "  tare guest run --allow env,network - < script.js");
  run->callback([flags, &context, run] {
    flags->words = guest_words(*run, context);
    context.action = [flags, &context] { return guest_run(*flags, context); };
  });
}

void add_guest_driver(CLI::App& guest, Context& context) {
  auto pool = std::make_shared<std::optional<std::string>>();
  CLI::App* driver = guest.add_subcommand(
      "driver", "The driver of the guest engine: `tare spawn` starts it (docs/driver-protocol.md)");
  add_text(*driver, "--pool", *pool, "Isolates kept ready, 0 to 256 (default 8); 0: every start is cold",
           "N");
  driver->callback([pool, &context] {
    context.action = [pool, &context] {
      guest::EngineOptions options;
      options.trace = std::getenv(spawn::trace_variable) != nullptr;
      if (*pool) options.pool = static_cast<std::uint32_t>(whole_number("--pool", **pool, pool_range));
      options.log = [&context](guest::Level level, const std::string& text) {
        if (level >= guest::Level::warning) context.err.write(text + "\n");
      };
      guest_driver::run(options);
      return exit_ok;
    };
  });
}

}  // namespace

void add_guest(CLI::App& app, Context& context) {
  CLI::App* guest =
      app.add_subcommand("guest", "The built-in guest engine: JavaScript in a machine of its own");
  guest->require_subcommand(1);
  guest->footer("Example:\n  tare guest run -e 'console.log(1 + 1)'");
  add_run(*guest, context);
  add_guest_driver(*guest, context);
}

}  // namespace tare::cli
