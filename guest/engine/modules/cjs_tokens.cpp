#include "engine/modules/cjs_tokens.hpp"

#include <algorithm>
#include <array>

namespace tare::engine {
namespace {

using Kind = CjsToken::Kind;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whatever isn't ASCII counts as a letter: names may have it, and nothing else outside of text does.
bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         c == '#' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Words behind which an expression starts.
bool expects_expression(std::string_view word) {
  static constexpr std::array<std::string_view, 13> words{"await",  "case",       "delete", "do",     "else",
                                                          "in",     "instanceof", "new",    "return", "throw",
                                                          "typeof", "void",       "yield"};
  return std::ranges::find(words, word) != words.end();
}

/// Words whose parentheses are followed by a statement.
bool has_condition(std::string_view word) {
  return word == "if" || word == "while" || word == "for" || word == "with";
}

class Scanner {
 public:
  explicit Scanner(std::string_view source) : source_(source) {}

  std::optional<std::vector<CjsToken>> run() {
    tokens_.reserve(source_.size() / 4 + 1);
    if (source_.starts_with("#!")) skip_line();
    while (ok_) {
      skip_space();
      if (at_ >= source_.size()) break;
      scan();
    }
    if (!ok_ || !open_.empty()) return std::nullopt;
    add(Kind::end, source_.size());
    return std::move(tokens_);
  }

 private:
  enum class Bracket : std::uint8_t { plain, condition, block, object, template_expression };
  struct Open {
    char close;
    Bracket bracket;
  };

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void add(Kind kind, std::size_t start) {
    tokens_.push_back(
        {kind, static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(std::min(at_, source_.size()))});
  }

  std::string_view text(const CjsToken& token) const {
    return source_.substr(token.start, token.end - token.start);
  }

  /// The last token as a word of the language; empty when it is something else, such as a member's name.
  std::string_view word_before() const {
    if (tokens_.empty() || tokens_.back().kind != Kind::name) return {};
    const bool member = tokens_.size() > 1 && source_[tokens_[tokens_.size() - 2].start] == '.';
    return member ? std::string_view() : text(tokens_.back());
  }

  void skip_line() {
    while (at_ < source_.size() && source_[at_] != '\n' && source_[at_] != '\r') ++at_;
  }

  void skip_space() {
    while (at_ < source_.size()) {
      if (is_space(peek())) {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        skip_line();
      } else if (peek() == '/' && peek(1) == '*') {
        const std::size_t end = source_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? source_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  void scan() {
    const std::size_t start = at_;
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      while (is_name_part(peek()) || peek() == '.') ++at_;
      add(Kind::number, start);
    } else if (is_name_part(c) || c == '\\') {
      while (is_name_part(peek()) || peek() == '\\') ++at_;
      add(Kind::name, start);
    } else if (c == '"' || c == '\'') {
      scan_string(c);
    } else if (c == '`') {
      ++at_;
      scan_template(start);
    } else if (c == '/' && regexp_may_start()) {
      scan_regexp();
    } else {
      ++at_;
      bracket(c);
      if (ok_ && c == '}' && template_goes_on_) {
        template_goes_on_ = false;
        scan_template(start);
      } else {
        add(Kind::punctuator, start);
      }
    }
  }

  void scan_string(char quote) {
    const std::size_t start = at_++;
    while (at_ < source_.size() && peek() != quote) {
      if (peek() == '\n' || peek() == '\r') break;
      if (peek() == '\\') at_ += peek(1) == '\r' && peek(2) == '\n' ? 2 : 1;
      ++at_;
    }
    ok_ = at_ < source_.size() && peek() == quote;
    ++at_;
    add(Kind::string, start);
  }

  /// From behind the back quote or the brace that ended an expression, to the next expression or the end.
  void scan_template(std::size_t start) {
    for (; at_ < source_.size(); ++at_) {
      if (peek() == '\\') {
        ++at_;
      } else if (peek() == '`') {
        ++at_;
        add(Kind::piece, start);
        return;
      } else if (peek() == '$' && peek(1) == '{') {
        at_ += 2;
        add(Kind::piece, start);
        open_.push_back({'}', Bracket::template_expression});
        expression_starts_ = true;
        return;
      }
    }
    ok_ = false;
  }

  void scan_regexp() {
    const std::size_t start = at_++;
    bool in_class = false;
    for (; at_ < source_.size() && peek() != '\n' && peek() != '\r'; ++at_) {
      const char c = peek();
      if (c == '\\') {
        ++at_;
      } else if (c == '[') {
        in_class = true;
      } else if (c == ']') {
        in_class = false;
      } else if (c == '/' && !in_class) {
        ++at_;
        while (is_name_part(peek())) ++at_;
        add(Kind::regexp, start);
        return;
      }
    }
    ok_ = false;
  }

  Bracket brace_kind() const {
    if (tokens_.empty()) return Bracket::block;
    const CjsToken& before = tokens_.back();
    if (before.kind == Kind::name) {
      const std::string_view word = word_before();
      return expects_expression(word) && word != "else" && word != "do" ? Bracket::object : Bracket::block;
    }
    if (before.kind != Kind::punctuator) return Bracket::block;
    switch (source_[before.start]) {
      case ')':
      case ';':
      case '{':
      case '}':
        return Bracket::block;
      case '>':  // `=>` opens a body, a comparison an object
        return before.start > 0 && source_[before.start - 1] == '=' ? Bracket::block : Bracket::object;
      default:
        return Bracket::object;
    }
  }

  void bracket(char c) {
    if (c == '(') {
      open_.push_back({')', has_condition(word_before()) ? Bracket::condition : Bracket::plain});
    } else if (c == '[') {
      open_.push_back({']', Bracket::plain});
    } else if (c == '{') {
      open_.push_back({'}', brace_kind()});
    } else if (c == ')' || c == ']' || c == '}') {
      if (open_.empty() || open_.back().close != c) {
        ok_ = false;
        return;
      }
      closed_ = open_.back().bracket;
      open_.pop_back();
      template_goes_on_ = closed_ == Bracket::template_expression;
    }
    expression_starts_ = false;
  }

  /// Whether `/` starts a pattern here; otherwise it divides.
  bool regexp_may_start() const {
    if (tokens_.empty() || expression_starts_) return true;
    const CjsToken& before = tokens_.back();
    if (before.kind == Kind::name) return expects_expression(word_before());
    if (before.kind != Kind::punctuator) return false;
    switch (source_[before.start]) {
      case ')':
        return closed_ == Bracket::condition;
      case ']':
        return false;
      case '}':
        return closed_ == Bracket::block;
      case '+':
      case '-':  // `a++ / b` divides
        return !(before.start > 0 && source_[before.start - 1] == source_[before.start]);
      default:
        return true;
    }
  }

  const std::string_view source_;
  std::vector<CjsToken> tokens_;
  std::vector<Open> open_;
  Bracket closed_ = Bracket::plain;  ///< what the last closing bracket closed
  std::size_t at_ = 0;
  bool template_goes_on_ = false;
  bool expression_starts_ = false;
  bool ok_ = true;
};

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Takes the escapes of a literal apart.
class Unescape {
 public:
  explicit Unescape(std::string_view inner) : inner_(inner) {}

  std::optional<std::string> run() {
    while (at_ < inner_.size()) {
      const char c = inner_[at_++];
      if (c != '\\') {
        if (high_ != 0) return std::nullopt;
        out_ += c;
      } else if (!escape()) {
        return std::nullopt;
      }
    }
    return high_ == 0 ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  std::optional<std::uint32_t> hex(std::size_t digits) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < digits; ++i, ++at_) {
      const int digit = at_ < inner_.size() ? hex_value(inner_[at_]) : -1;
      if (digit < 0) return std::nullopt;
      value = value * 16 + static_cast<std::uint32_t>(digit);
    }
    return value;
  }

  std::optional<std::uint32_t> code_point() {
    if (at_ >= inner_.size() || inner_[at_] != '{') return hex(4);
    const std::size_t close = inner_.find('}', ++at_);
    if (close == std::string_view::npos || close == at_ || close - at_ > 6) return std::nullopt;
    const std::optional<std::uint32_t> value = hex(close - at_);
    ++at_;
    return value;
  }

  bool append(std::uint32_t code) {
    constexpr std::uint32_t high_start = 0xD800;
    constexpr std::uint32_t low_start = 0xDC00;
    constexpr std::uint32_t low_end = 0xDFFF;
    if (code >= high_start && code < low_start) {
      if (high_ != 0) return false;
      high_ = code;
      return true;
    }
    if (code >= low_start && code <= low_end) {
      if (high_ == 0) return false;
      code = 0x10000 + ((high_ - high_start) << 10) + (code - low_start);
      high_ = 0;
    }
    if (high_ != 0 || code > 0x10FFFF) return false;
    const auto byte = [&](std::uint32_t value) { out_ += static_cast<char>(value); };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xC0 | code >> 6);
      byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      byte(0xE0 | code >> 12);
      byte(0x80 | (code >> 6 & 0x3F));
      byte(0x80 | (code & 0x3F));
    } else {
      byte(0xF0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3F));
      byte(0x80 | (code >> 6 & 0x3F));
      byte(0x80 | (code & 0x3F));
    }
    return true;
  }

  bool escape() {
    if (at_ >= inner_.size()) return false;
    const char c = inner_[at_++];
    static constexpr std::string_view names = "nrtbfv0";
    static constexpr std::string_view values("\n\r\t\b\f\v\0", 7);
    if (c == '\n') return true;  // a line that goes on
    if (c == '\r') {
      if (at_ < inner_.size() && inner_[at_] == '\n') ++at_;
      return true;
    }
    if (c == 'x' || c == 'u') {
      const std::optional<std::uint32_t> code = c == 'x' ? hex(2) : code_point();
      return code && append(*code);
    }
    const std::size_t named = names.find(c);
    return append(static_cast<unsigned char>(named == std::string_view::npos ? c : values[named]));
  }

  const std::string_view inner_;
  std::string out_;
  std::size_t at_ = 0;
  std::uint32_t high_ = 0;  ///< the first half of a surrogate pair
};

}  // namespace

std::optional<std::vector<CjsToken>> cjs_tokens(std::string_view source) {
  return Scanner(source).run();
}

std::optional<std::string> cjs_string(std::string_view literal) {
  const std::string_view inner = literal.substr(1, literal.size() - 2);
  if (inner.find('\\') == std::string_view::npos) return std::string(inner);
  return Unescape(inner).run();
}

}  // namespace tare::engine
