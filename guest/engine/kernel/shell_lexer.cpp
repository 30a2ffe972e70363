#include "engine/kernel/shell_lexer.hpp"

#include <fmt/format.h>

namespace tare::kernel::shell {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool ends_word(char c) {
  return std::string_view(" \t\n|&;<>()").find(c) != std::string_view::npos;
}

std::string unsupported(std::string_view what, std::string_view sign) {
  return fmt::format("{} are not supported (\"{}\")", what, sign);
}

}  // namespace

bool is_name(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  for (const char c : text) {
    if (!is_letter(c) && !is_digit(c)) return false;
  }
  return true;
}

void Lexer::fail(std::string message) {
  if (!error_) error_ = SyntaxError{line_, std::move(message)};
  at_ = text_.size();
}

void Lexer::append(Word& word, WordPart::Quoting quoting, char character) {
  if (word.empty() || word.back().kind != WordPart::Kind::literal || word.back().quoting != quoting) {
    word.push_back({WordPart::Kind::literal, quoting, {}});
  }
  word.back().text += character;
}

void Lexer::skip_blanks() {
  for (;;) {
    if (peek() == '\\' && peek(1) == '\n') {
      at_ += 2;
      ++line_;
    } else if (!done() && (peek() == ' ' || peek() == '\t')) {
      ++at_;
    } else {
      break;
    }
  }
  if (peek() != '#') return;
  while (!done() && peek() != '\n') ++at_;
}

Token Lexer::next() {
  skip_blanks();
  Token token;
  token.line = line_;
  if (done()) return token;
  if (peek() == '\n') {
    ++at_;
    ++line_;
    token.kind = Token::Kind::newline;
    return token;
  }
  const bool numbered = is_digit(peek()) && (peek(1) == '<' || peek(1) == '>');
  token = numbered || ends_word(peek()) ? read_operator() : read_word();
  if (error_) return Token();
  return token;
}

Token Lexer::read_operator() {
  Token token;
  token.kind = Token::Kind::op;
  token.line = line_;
  if (is_digit(peek())) token.fd = text_[at_++] - '0';
  for (const std::string_view op : {"<<", "<&", "<>", ">>", ">&", ">|", "&&", "||", ";;"}) {
    if (text_.substr(at_).starts_with(op)) token.op = op;
  }
  if (token.op.empty()) token.op = peek();
  at_ += token.op.size();
  if (token.op == "<<") fail(unsupported("here-documents", "<<"));
  if (token.op == "<&" || token.op == "<>" || token.op == ">|")
    fail(unsupported("such redirections", token.op));
  if (token.op == ";;") fail("\";;\" unexpected");
  if (token.op == "&") fail(unsupported("background commands", "&"));
  if (token.op == "(" || token.op == ")") fail(unsupported("subshells and functions", token.op));
  if (token.fd > 2)
    fail(unsupported("redirections of descriptors above 2", std::to_string(token.fd) + token.op));
  return token;
}

Token Lexer::read_word() {
  Token token;
  token.kind = Token::Kind::word;
  token.line = line_;
  using enum WordPart::Quoting;
  while (!done() && !ends_word(peek())) {
    const char c = peek();
    if (c == '\\') {
      ++at_;
      if (done()) {
        append(token.word, quoted, '\\');
      } else if (peek() == '\n') {
        ++line_;
        ++at_;
      } else {
        append(token.word, quoted, text_[at_++]);
      }
    } else if (c == '\'') {
      read_single_quoted(token.word);
    } else if (c == '"') {
      read_double_quoted(token.word);
    } else if (c == '$') {
      read_variable(token.word, bare);
    } else if (c == '`') {
      fail(unsupported("command substitutions", "`"));
    } else if (c == '*' || c == '?' || c == '[') {
      fail(unsupported("globs", std::string(1, c)));
    } else if (c == '~' && token.word.empty()) {
      fail(unsupported("home directories", "~"));
    } else {
      append(token.word, bare, text_[at_++]);
    }
  }
  if (token.word.size() == 1 && token.word.front().kind == WordPart::Kind::literal &&
      token.word.front().quoting == bare) {
    token.bare = token.word.front().text;
  }
  return token;
}

// Quotes with nothing in them are an argument too, hence the empty part.
void Lexer::read_single_quoted(Word& word) {
  const std::size_t end = text_.find('\'', at_ + 1);
  if (end == std::string_view::npos) return fail("Unterminated quoted string");
  word.push_back({WordPart::Kind::literal, WordPart::Quoting::quoted, {}});
  for (++at_; at_ < end; ++at_) {
    if (peek() == '\n') ++line_;
    append(word, WordPart::Quoting::quoted, peek());
  }
  ++at_;
}

void Lexer::read_double_quoted(Word& word) {
  using enum WordPart::Quoting;
  word.push_back({WordPart::Kind::literal, quoted, {}});
  ++at_;
  while (!done() && peek() != '"') {
    const char c = peek();
    if (c == '\n') ++line_;
    if (c == '\\' && peek(1) == '\n') {
      at_ += 2;
      ++line_;
    } else if (c == '\\' && peek(1) != '\0' &&
               std::string_view("$`\"\\").find(peek(1)) != std::string_view::npos) {
      append(word, quoted, peek(1));
      at_ += 2;
    } else if (c == '$') {
      read_variable(word, quoted);
    } else if (c == '`') {
      return fail(unsupported("command substitutions", "`"));
    } else {
      append(word, quoted, c);
      ++at_;
    }
  }
  if (done()) return error_ ? void() : fail("Unterminated quoted string");
  ++at_;
}

void Lexer::read_variable(Word& word, WordPart::Quoting quoting) {
  const char c = peek(1);
  std::string name;
  if (c == '(') return fail(unsupported("command substitutions", "$("));
  if (c == '{') {
    const std::size_t end = text_.find('}', at_);
    if (end == std::string_view::npos) return fail("Missing '}'");
    name = text_.substr(at_ + 2, end - at_ - 2);
    const bool one_sign =
        name.size() == 1 && (is_digit(name[0]) || name[0] == '?' || name[0] == '$' || name[0] == '#');
    if (!is_name(name) && !one_sign) return fail(unsupported("such expansions", "${" + name + "}"));
    at_ = end + 1;
  } else if (is_letter(c)) {
    for (++at_; is_letter(peek()) || is_digit(peek()); ++at_) name += peek();
  } else if (is_digit(c) || c == '?' || c == '$' || c == '#') {
    name = c;
    at_ += 2;
  } else if (c == '@' || c == '*' || c == '!' || c == '-') {
    return fail(unsupported("such expansions", std::string("$") + c));
  } else {
    append(word, quoting, '$');
    ++at_;
    return;
  }
  word.push_back({WordPart::Kind::variable, quoting, std::move(name)});
}

}  // namespace tare::kernel::shell
