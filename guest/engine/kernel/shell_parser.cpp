#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "engine/kernel/shell_lexer.hpp"
#include "engine/kernel/shell_syntax.hpp"

namespace tare::kernel::shell {
namespace {

// What begins a construct where a command is expected.
constexpr std::array<std::string_view, 17> reserved_words{
    "if",   "then", "else", "elif", "fi", "for", "while",    "until", "do",
    "done", "case", "esac", "{",    "}",  "!",   "function", "in"};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { advance(); }

  std::variant<Script, SyntaxError> run() {
    Script script;
    auto when = Pipeline::When::always;
    for (;;) {
      while (token_.kind == Token::Kind::newline) advance();
      if (token_.kind == Token::Kind::end && when == Pipeline::When::always) break;
      Pipeline pipeline{when, {}};
      if (!read_pipeline(pipeline)) break;
      script.push_back(std::move(pipeline));
      when = Pipeline::When::always;
      if (is_op("&&") || is_op("||")) {
        when = is_op("&&") ? Pipeline::When::after_success : Pipeline::When::after_failure;
        advance();
      } else if (is_op(";") || token_.kind == Token::Kind::newline) {
        advance();
      } else if (token_.kind != Token::Kind::end) {
        unexpected();
        break;
      }
    }
    if (lexer_.error()) return *lexer_.error();
    if (error_) return *error_;
    return script;
  }

 private:
  void advance() { token_ = lexer_.next(); }
  bool is_op(std::string_view op) const { return token_.kind == Token::Kind::op && token_.op == op; }
  bool is_redirect() const {
    return token_.kind == Token::Kind::op && (token_.op[0] == '<' || token_.op[0] == '>');
  }

  bool fail(std::string message) {
    if (!error_) error_ = SyntaxError{token_.line, std::move(message)};
    return false;
  }
  bool unexpected() {
    switch (token_.kind) {
      case Token::Kind::end:
        return fail("end of file unexpected");
      case Token::Kind::newline:
        return fail("newline unexpected");
      case Token::Kind::op:
        return fail(fmt::format("\"{}\" unexpected", token_.op));
      case Token::Kind::word:
        break;
    }
    return fail("word unexpected");
  }

  bool read_pipeline(Pipeline& pipeline) {
    for (;;) {
      while (token_.kind == Token::Kind::newline) advance();
      Command command;
      command.line = token_.line;
      if (!read_command(command)) return false;
      pipeline.commands.push_back(std::move(command));
      if (!is_op("|")) return true;
      advance();
    }
  }

  bool read_command(Command& command) {
    for (;;) {
      if (is_redirect()) {
        if (!read_redirect(command)) return false;
        continue;
      }
      if (token_.kind != Token::Kind::word) break;
      if (command.words.empty() && command.assignments.empty() &&
          std::find(reserved_words.begin(), reserved_words.end(), token_.bare) != reserved_words.end()) {
        return fail(fmt::format("compound commands are not supported (\"{}\")", token_.bare));
      }
      if (!command.words.empty() || !take_assignment(command))
        command.words.push_back(std::move(token_.word));
      advance();
    }
    if (command.words.empty() && command.assignments.empty() && command.redirects.empty())
      return unexpected();
    return true;
  }

  bool take_assignment(Command& command) {
    const WordPart& first = token_.word.front();
    if (first.kind != WordPart::Kind::literal || first.quoting != WordPart::Quoting::bare) return false;
    const std::size_t equals = first.text.find('=');
    if (equals == std::string::npos || !is_name(std::string_view(first.text).substr(0, equals))) return false;
    std::string name = first.text.substr(0, equals);
    token_.word.front().text.erase(0, equals + 1);
    command.assignments.emplace_back(std::move(name), std::move(token_.word));
    return true;
  }

  bool read_redirect(Command& command) {
    Redirect redirect;
    redirect.kind = token_.op == "<"    ? Redirect::Kind::input
                    : token_.op == ">"  ? Redirect::Kind::output
                    : token_.op == ">>" ? Redirect::Kind::append
                                        : Redirect::Kind::duplicate;
    redirect.fd = token_.fd >= 0 ? token_.fd : redirect.kind == Redirect::Kind::input ? 0 : 1;
    advance();
    if (token_.kind != Token::Kind::word) return unexpected();
    if (redirect.kind == Redirect::Kind::duplicate) {
      if (token_.bare != "0" && token_.bare != "1" && token_.bare != "2") return fail("Bad fd number");
      redirect.source_fd = token_.bare[0] - '0';
    }
    redirect.target = std::move(token_.word);
    command.redirects.push_back(std::move(redirect));
    advance();
    return true;
  }

  Lexer lexer_;
  Token token_;
  std::optional<SyntaxError> error_;
};

}  // namespace

std::variant<Script, SyntaxError> parse(std::string_view text) {
  return Parser(text).run();
}

}  // namespace tare::kernel::shell
