#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kernel/process.hpp"
#include "engine/kernel/shell_syntax.hpp"

namespace tare::kernel::shell {

/// Where the standard streams of a command lead; null is closed.
using Streams = std::array<std::shared_ptr<Description>, 3>;

/// What a shell keeps between commands. A copy of it is what a part of a pipeline changes.
struct State {
  struct Variable {
    std::string value;
    enum class Scope { shell, exported } scope = Scope::shell;
  };

  std::map<std::string, Variable> variables;
  std::string cwd;
  std::string name;                     ///< $0, and how messages begin
  std::vector<std::string> parameters;  ///< $1 to $9
  int pid = 0;
  int status = 0;
  /// Set by exit: the shell is to end with `status`.
  enum class Flow { run, exit } flow = Flow::run;

  void set(const std::string& name, std::string value);
  std::string value(const std::string& variable) const;
  Process::Environment environment() const;

  /// The arguments that a word becomes; and the one that it is where nothing is split.
  std::vector<std::string> fields(const Word& word) const;
  std::string text(const Word& word) const;
};

/// What a builtin works with.
struct BuiltinCall {
  Process& process;
  State& state;
  const std::vector<std::string>& arguments;  ///< the name first
  const Streams& streams;
  int line;
};

/// The status of a builtin, or nothing when there is none of that name.
std::optional<int> run_builtin(const BuiltinCall& call);
bool is_builtin(std::string_view name);

/// Writes all of `text`, waiting for room; what cannot be written (no reader, closed, killed) is dropped.
void write_text(Process& process, const std::shared_ptr<Description>& to, std::string_view text);
/// "sh: LINE: MESSAGE" on stderr.
void complain(Process& process, const State& state, const Streams& streams, int line,
              std::string_view message);

}  // namespace tare::kernel::shell
