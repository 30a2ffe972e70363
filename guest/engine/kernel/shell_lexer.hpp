#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/kernel/shell_syntax.hpp"

namespace tare::kernel::shell {

struct Token {
  enum class Kind { word, op, newline, end };
  Kind kind = Kind::end;
  int line = 1;
  std::string op;  ///< | && || ; < > >> >&
  int fd = -1;     ///< the number right before < or >, or -1
  Word word;
  std::string bare;  ///< a word without any quoting or variable, as it stands; otherwise empty
};

/// Cuts a script into words and operators. The first error stays and ends the tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();
  const std::optional<SyntaxError>& error() const { return error_; }
  int line() const { return line_; }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool done() const { return at_ >= text_.size(); }
  void fail(std::string message);
  void skip_blanks();
  Token read_operator();
  Token read_word();
  void read_single_quoted(Word& word);
  void read_double_quoted(Word& word);
  void read_variable(Word& word, WordPart::Quoting quoting);
  void append(Word& word, WordPart::Quoting quoting, char character);

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::optional<SyntaxError> error_;
};

}  // namespace tare::kernel::shell
