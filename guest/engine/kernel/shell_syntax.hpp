#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// What the shell understands, as a tree. See shell.hpp for the language.
namespace tare::kernel::shell {

struct WordPart {
  enum class Kind { literal, variable };
  enum class Quoting { bare, quoted };
  Kind kind = Kind::literal;
  Quoting quoting = Quoting::bare;
  std::string text;  ///< the characters, or the name of the variable
};

/// What becomes one argument, or by the splitting of bare variables none or several.
using Word = std::vector<WordPart>;

struct Redirect {
  enum class Kind { input, output, append, duplicate };
  int fd = 0;  ///< 0 to 2
  Kind kind = Kind::input;
  Word target;        ///< the file
  int source_fd = 0;  ///< for duplicate
};

struct Command {
  std::vector<std::pair<std::string, Word>> assignments;
  std::vector<Word> words;
  std::vector<Redirect> redirects;
  int line = 1;
};

struct Pipeline {
  enum class When { always, after_success, after_failure };
  When when = When::always;
  std::vector<Command> commands;
};

using Script = std::vector<Pipeline>;

struct SyntaxError {
  int line;
  std::string message;
};

/// Reads all of a script before anything of it runs.
std::variant<Script, SyntaxError> parse(std::string_view text);

bool is_name(std::string_view text);

}  // namespace tare::kernel::shell
