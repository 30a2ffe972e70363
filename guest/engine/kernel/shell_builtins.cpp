#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/text.hpp"
#include "engine/kernel/shell_state.hpp"
#include "engine/kernel/vm.hpp"

namespace tare::kernel::shell {
namespace {

int run_true(const BuiltinCall&) {
  return 0;
}
int run_false(const BuiltinCall&) {
  return 1;
}

/// The character that a backslash and `letter` stand for, if they do.
std::optional<char> escape(char letter) {
  constexpr std::string_view name_letters = "abfnrtv\\";
  constexpr std::string_view name_characters = "\a\b\f\n\r\t\v\\";
  const auto at = name_letters.find(letter);
  if (at == std::string_view::npos) return std::nullopt;
  return name_characters[at];
}

/// The first up to three octal digits of `text`.
std::string_view octal_digits(std::string_view text) {
  text = text.substr(0, 3);
  return text.substr(0, std::min(text.find_first_not_of("01234567"), text.size()));
}
char character_of(std::string_view octal) {
  unsigned value = 0;
  for (const char digit : octal) value = value * 8 + static_cast<unsigned>(digit - '0');
  return static_cast<char>(value);
}

// As Debian's sh: -n, and backslash escapes always.
int run_echo(const BuiltinCall& call) {
  std::string line;
  std::size_t first = 1;
  const bool no_newline = call.arguments.size() > 1 && call.arguments[1] == "-n";
  if (no_newline) first = 2;
  bool cut = false;
  for (std::size_t i = first; i < call.arguments.size() && !cut; ++i) {
    if (i > first) line += ' ';
    const std::string& argument = call.arguments[i];
    for (std::size_t at = 0; at < argument.size() && !cut; ++at) {
      const bool escaped = argument[at] == '\\' && at + 1 < argument.size();
      if (escaped && argument[at + 1] == 'c') {
        cut = true;
      } else if (escaped && argument[at + 1] == '0') {
        const auto digits = octal_digits(std::string_view(argument).substr(at + 2));
        line += character_of(digits);
        at += 1 + digits.size();
      } else if (const auto character = escaped ? escape(argument[at + 1]) : std::nullopt) {
        line += *character;
        ++at;
      } else {
        line += argument[at];
      }
    }
  }
  if (!no_newline && !cut) line += '\n';
  write_text(call.process, call.streams[1], line);
  return 0;
}

int run_exit(const BuiltinCall& call) {
  call.state.flow = State::Flow::exit;
  if (call.arguments.size() < 2) return call.state.status;
  const auto code = text::to_int(call.arguments[1]);
  if (code && *code >= 0) return static_cast<int>(*code & 0xff);
  complain(call.process, call.state, call.streams, call.line,
           fmt::format("exit: Illegal number: {}", call.arguments[1]));
  return 2;
}

int run_cd(const BuiltinCall& call) {
  State& state = call.state;
  std::string to = call.arguments.size() > 1 ? call.arguments[1] : state.value("HOME");
  const bool back = to == "-";
  if (back) to = state.value("OLDPWD");
  if (to.empty()) return 0;
  Origin origin = call.process.origin();
  origin.cwd = state.cwd;
  auto there = call.process.vm()->files().real_directory(origin, to);
  if (!there.ok()) {
    complain(call.process, state, call.streams, call.line, fmt::format("cd: can't cd to {}", to));
    return 2;
  }
  state.set("OLDPWD", state.cwd);
  state.cwd = *std::move(there);
  state.set("PWD", state.cwd);
  if (back) write_text(call.process, call.streams[1], state.cwd + "\n");
  return 0;
}

int run_pwd(const BuiltinCall& call) {
  write_text(call.process, call.streams[1], call.state.cwd + "\n");
  return 0;
}

int run_export(const BuiltinCall& call) {
  for (std::size_t i = 1; i < call.arguments.size(); ++i) {
    const std::string& argument = call.arguments[i];
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (!is_name(name)) {
      complain(call.process, call.state, call.streams, call.line,
               fmt::format("export: {}: bad variable name", argument));
      call.state.flow = State::Flow::exit;
      return 2;
    }
    // As in sh, only what has a value becomes part of the environment.
    if (equals != std::string::npos) call.state.set(name, argument.substr(equals + 1));
    const auto variable = call.state.variables.find(name);
    if (variable != call.state.variables.end()) variable->second.scope = State::Variable::Scope::exported;
  }
  return 0;
}

using Builtin = int (*)(const BuiltinCall&);
constexpr std::array<std::pair<std::string_view, Builtin>, 8> builtin_commands{{{"true", run_true},
                                                                                {":", run_true},
                                                                                {"false", run_false},
                                                                                {"echo", run_echo},
                                                                                {"exit", run_exit},
                                                                                {"cd", run_cd},
                                                                                {"pwd", run_pwd},
                                                                                {"export", run_export}}};

const std::pair<std::string_view, Builtin>* find(std::string_view name) {
  const auto found = std::find_if(builtin_commands.begin(), builtin_commands.end(),
                                  [&](const auto& each) { return each.first == name; });
  return found == builtin_commands.end() ? nullptr : &*found;
}

}  // namespace

bool is_builtin(std::string_view name) {
  return find(name) != nullptr;
}

std::optional<int> run_builtin(const BuiltinCall& call) {
  const auto* builtin = find(call.arguments.front());
  if (builtin == nullptr) return std::nullopt;
  return builtin->second(call);
}

}  // namespace tare::kernel::shell
