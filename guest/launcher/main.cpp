// tare-guest-launcher [--allow-network] [--parent PID] [--read DIR]... [--root DIR]... -- PROGRAM ARGUMENTS
// tare-guest-launcher --probe
//
// Shuts the program out of the host and becomes it. What is active is in its environment, in
// TARE_GUEST_ISOLATION; --probe writes the same to stderr and leaves.

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/prctl.h>
#include <unistd.h>

#include "launcher/isolation.hpp"

namespace {

using tare::launcher::Request;

constexpr int exit_usage = 2;
constexpr int exit_cannot_start = 127;

int complain(const std::string& line) {
  std::fputs(("tare-guest-launcher: " + line + "\n").c_str(), stderr);
  return exit_usage;
}

struct Arguments {
  Request request;
  bool probe = false;
  pid_t parent = 0;
  char** program = nullptr;
  std::string error;
};

Arguments parse(char** argv) {
  Arguments arguments;
  for (char** at = argv + 1; *at != nullptr; ++at) {
    const std::string_view flag = *at;
    if (flag == "--") {
      arguments.program = at + 1;
      break;
    }
    if (flag == "--probe") {
      arguments.probe = true;
    } else if (flag == "--allow-network") {
      arguments.request.network = tare::launcher::Network::host;
    } else if (flag != "--read" && flag != "--root" && flag != "--parent") {
      arguments.error = "no such flag: " + std::string(flag);
      return arguments;
    } else if (*++at == nullptr) {
      arguments.error = std::string(flag) + " needs a value";
      return arguments;
    } else if (flag == "--parent") {
      arguments.parent = std::atoi(*at);
    } else if (**at != '/') {
      arguments.error = std::string(flag) + " needs an absolute path";
      return arguments;
    } else {
      (flag == "--read" ? arguments.request.readable : arguments.request.roots).emplace_back(*at);
    }
  }
  if (!arguments.probe && (arguments.program == nullptr || *arguments.program == nullptr))
    arguments.error = "there is no program to start";
  return arguments;
}

}  // namespace

int main(int, char** argv) {
  const Arguments arguments = parse(argv);
  if (!arguments.error.empty()) return complain(arguments.error);
  std::vector<tare::launcher::Part> parts = isolate(arguments.request);
  // The engine installs it by itself, on all of its threads.
  if (arguments.probe) parts.push_back(tare::launcher::probe_seccomp());
  const std::string active = to_json(parts);
  if (arguments.probe) {
    std::fputs((active + "\n").c_str(), stderr);
    return 0;
  }
  ::setenv("TARE_GUEST_ISOLATION", active.c_str(), 1);
  // After everything that changes credentials, which would undo it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (arguments.parent != 0 && ::getppid() != arguments.parent) return 0;  // it died before this was set
  ::execv(arguments.program[0], arguments.program);
  complain(std::string("cannot start ") + arguments.program[0] + ": " + std::strerror(errno));
  return exit_cannot_start;
}
