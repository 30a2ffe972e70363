// tare-spawner: the floor lanes of `tare spawn`. Static and small, because a child's peak memory is never
// reported as less than its parent's.

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "base/error.hpp"
#include "spawner/protocol.hpp"

namespace {

constexpr std::string_view usage =
    "Usage: tare-spawner --lane native|sh|cmd [--] [COMMAND WORDS...]\n"
    "\n"
    "A driver (tare.driver.v1) on stdin and stdout; `tare spawn` starts it.\n"
    "  native  COMMAND is the machine's node: NODE -e {script}\n"
    "  sh      sh -c 'exit 0' and /bin/true; no COMMAND\n"
    "  cmd     any COMMAND; with {script} in it, the script rows run through it\n";

void print(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

int run(const std::vector<std::string>& arguments) {
  using tare::Error;
  using tare::ErrorCode;
  std::vector<std::string> words;
  std::string kind;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      print(STDOUT_FILENO, usage);
      return tare::exit_ok;
    }
    if (argument == "--version") {
      print(STDOUT_FILENO, "tare-spawner " TARE_VERSION "\n");
      return tare::exit_ok;
    }
    if (argument == "--lane" && kind.empty() && i + 1 < arguments.size()) {
      kind = arguments[++i];
      continue;
    }
    if (argument.starts_with("-") && argument != "--") {
      throw Error(ErrorCode::usage, "bad argument '" + argument + "'", "", "see tare-spawner --help");
    }
    // The first word that is no option, and all after it, is the command.
    words.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + (argument == "--" ? 1 : 0),
                 arguments.end());
    break;
  }
  if (kind.empty()) throw Error(ErrorCode::usage, "no --lane was given", "", "see tare-spawner --help");
  const tare::spawner::Lane lane(kind, std::move(words));
  // A lab that is gone shows as EPIPE.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    tare::serve::serve(tare::spawner::handlers(lane));
    return tare::exit_ok;
  } catch (const tare::spawner::LabVanished&) {
    return tare::exit_failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const tare::Error& error) {
    print(STDERR_FILENO, error.line() + "\n");
    return error.exit_code();
  } catch (const std::exception& error) {
    print(STDERR_FILENO, "tare: " + std::string(error.what()) + "\n");
    return tare::exit_failed;
  }
}
