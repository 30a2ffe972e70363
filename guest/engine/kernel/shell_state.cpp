#include "engine/kernel/shell_state.hpp"

#include <fmt/format.h>

namespace tare::kernel::shell {

void State::set(const std::string& variable, std::string value) {
  variables[variable].value = std::move(value);
}

std::string State::value(const std::string& variable) const {
  if (variable == "?") return std::to_string(status);
  if (variable == "$") return std::to_string(pid);
  if (variable == "#") return std::to_string(parameters.size());
  if (variable == "0") return name;
  if (variable.size() == 1 && variable[0] >= '1' && variable[0] <= '9') {
    const auto index = static_cast<std::size_t>(variable[0] - '1');
    return index < parameters.size() ? parameters[index] : std::string();
  }
  const auto found = variables.find(variable);
  return found == variables.end() ? std::string() : found->second.value;
}

Process::Environment State::environment() const {
  Process::Environment environment;
  for (const auto& [variable, held] : variables) {
    if (held.scope == Variable::Scope::exported) environment.emplace(variable, held.value);
  }
  return environment;
}

// Only what comes out of bare variables is split, at blanks and line ends.
std::vector<std::string> State::fields(const Word& word) const {
  std::vector<std::string> fields;
  std::optional<std::string> field;
  const auto end_field = [&] {
    if (field) fields.push_back(*std::exchange(field, std::nullopt));
  };
  for (const WordPart& part : word) {
    const bool literal = part.kind == WordPart::Kind::literal;
    if (literal || part.quoting == WordPart::Quoting::quoted) {
      field = field.value_or("") + (literal ? part.text : value(part.text));
      continue;
    }
    for (const char c : value(part.text)) {
      if (c == ' ' || c == '\t' || c == '\n') {
        end_field();
      } else {
        field = field.value_or("") + c;
      }
    }
  }
  end_field();
  return fields;
}

std::string State::text(const Word& word) const {
  std::string text;
  for (const WordPart& part : word) {
    text += part.kind == WordPart::Kind::literal ? part.text : value(part.text);
  }
  return text;
}

void write_text(Process& process, const std::shared_ptr<Description>& to, std::string_view text) {
  if (to) (void)write_blocking(process.wait(), *to, std::as_bytes(std::span(text)));
}

void complain(Process& process, const State& state, const Streams& streams, int line,
              std::string_view message) {
  write_text(process, streams[2], fmt::format("{}: {}: {}\n", state.name, line, message));
}

}  // namespace tare::kernel::shell
