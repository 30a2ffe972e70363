#include "engine/modules/cjs_exports.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

#include "engine/modules/cjs_tokens.hpp"

namespace tare::engine {
namespace {

using Kind = CjsToken::Kind;

/// Reads along the tokens from one of them; a `take` that doesn't fit leaves it where it was.
class Cursor {
 public:
  Cursor(std::string_view source, const std::vector<CjsToken>& tokens, std::size_t at)
      : source_(source), tokens_(&tokens), at_(at) {}

  const CjsToken& token() const { return (*tokens_)[std::min(at_, tokens_->size() - 1)]; }
  std::string_view text() const { return source_.substr(token().start, token().end - token().start); }
  bool is(Kind kind) const { return token().kind == kind; }
  bool at(std::string_view word) const { return (is(Kind::name) || is(Kind::punctuator)) && text() == word; }
  void next() { ++at_; }

  /// All of them, in this order; a punctuator may be given as the characters that it consists of.
  template <class... Words>
  bool take(Words... words) {
    const std::size_t before = at_;
    if ((take_one(words) && ...)) return true;
    at_ = before;
    return false;
  }

  std::optional<std::string_view> take_name() {
    if (!is(Kind::name)) return std::nullopt;
    const std::string_view name = text();
    next();
    return name;
  }

  std::optional<std::string_view> take_string() {
    if (!is(Kind::string)) return std::nullopt;
    const std::string_view literal = text();
    next();
    return literal;
  }

  /// `exports` or `module.exports`.
  bool take_exports() { return take("exports") || take("module", ".", "exports"); }

  /// require('x'), with a literal.
  std::optional<std::string_view> take_require() {
    const std::size_t before = at_;
    if (take("require", "(")) {
      const auto literal = take_string();
      if (literal && take(")")) return literal;
    }
    at_ = before;
    return std::nullopt;
  }

  /// 'text' between quotes of either kind.
  bool take_literal(std::string_view wanted) {
    if (!is(Kind::string) || text().substr(1, text().size() - 2) != wanted) return false;
    next();
    return true;
  }

  /// Whether nothing lies between the token before and this one.
  bool adjacent() const { return at_ > 0 && (*tokens_)[at_ - 1].end == token().start; }

 private:
  bool take_one(std::string_view word) {
    if (!at(word)) return false;
    next();
    return true;
  }

  std::string_view source_;
  const std::vector<CjsToken>* tokens_;
  std::size_t at_;
};

bool take_same(Cursor& at) {
  return at.take("=", "=", "=");
}

/// `name[key]`
bool take_member(Cursor& at, std::string_view name, std::string_view key) {
  return at.take(name, "[", key, "]");
}

class Finder {
 public:
  Finder(std::string_view source, const std::vector<CjsToken>& tokens) : source_(source), tokens_(tokens) {}

  CjsExports run() {
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i].kind != Kind::name) continue;
      if (!visit(i)) return {};
    }
    return std::move(found_);
  }

 private:
  /// False when this is no CommonJS after all.
  bool visit(std::size_t i) {
    Cursor at(source_, tokens_, i);
    const std::string_view word = at.text();
    const bool member =
        i > 0 && source_[tokens_[i - 1].start] == '.' && tokens_[i - 1].kind == Kind::punctuator;
    if (word == "__export" || word == "__exportStar") {
      at.next();
      if (at.adjacent() && at.take("(")) reexport(at.take_require());
    }
    if (member) return true;
    if (word == "import" || word == "export") return !is_module_syntax(at, word);
    if (word == "exports") {
      at.next();
      assignment(at);
    } else if (word == "module" && at.take("module", ".", "exports")) {
      if (at.take("=")) {
        whole(at);
      } else {
        assignment(at);
      }
    } else if (word == "Object") {
      if (!definition(at)) star(at);
    } else if (word == "var" || word == "let" || word == "const") {
      declaration(at);
    }
    return true;
  }

  static bool is_module_syntax(Cursor at, std::string_view word) {
    at.next();
    if (at.is(Kind::string) || at.at("{") || at.at("*")) return true;
    if (word == "import" ? at.at(".") : at.at("=")) return true;
    return at.is(Kind::name);
  }

  void name(std::string_view text) {
    if (text.find('\\') != std::string_view::npos) return;
    add(std::string(text));
  }
  void literal(std::string_view text) {
    if (auto value = cjs_string(text)) add(*std::move(value));
  }
  void add(std::string text) {
    if (seen_.insert(text).second) found_.names.push_back(std::move(text));
  }
  void reexport(std::optional<std::string_view> text) {
    if (!text) return;
    if (auto value = cjs_string(*text)) found_.reexports.push_back(*std::move(value));
  }

  /// Behind exports: `.a =` or `['a'] =`
  void assignment(Cursor at) {
    if (at.take(".")) {
      const auto member = at.take_name();
      if (member && at.at("=")) name(*member);
    } else if (at.take("[")) {
      const auto member = at.take_string();
      if (member && at.take("]", "=")) literal(*member);
    }
  }

  /// Behind `module.exports =`: what was re-exported before is not any more.
  void whole(Cursor at) {
    found_.reexports.clear();
    if (at.take("{")) {
      while (property(at) && at.take(",")) {
      }
      return;
    }
    reexport(at.take_require());
  }

  /// One property of an object literal; false when it isn't understood, which ends the search in it.
  bool property(Cursor& at) {
    if (at.take(".", ".", ".")) {
      if (const auto specifier = at.take_require()) {
        reexport(specifier);
        return true;
      }
      return at.take_name().has_value();
    }
    if (const auto quoted = at.take_string()) {
      if (!at.take(":")) return true;
      if (!at.is(Kind::name)) return false;
      literal(*quoted);
      return value(at);
    }
    const auto member = at.take_name();
    if (!member) return false;
    if (at.take(":")) {
      if (!at.is(Kind::name)) return false;
      name(*member);
      return value(at);
    }
    if (*member == "get" && at.is(Kind::name)) return false;
    name(*member);
    return true;
  }

  /// The name that is a property's value. Behind it the comma must follow at once.
  bool value(Cursor& at) {
    if (const auto specifier = at.take_require()) {
      reexport(specifier);
      return false;
    }
    at.next();
    return at.adjacent();
  }

  /// Object.defineProperty(exports, 'a', {enumerable: true, value: or a getter that returns a member})
  bool definition(Cursor at) {
    if (!at.take("Object", ".", "defineProperty", "(") || !at.take_exports() || !at.take(",")) return false;
    const auto member = at.take_string();
    if (!member || !at.take(",", "{")) return false;
    at.take("enumerable", ":", "true", ",");
    if (at.take("value", ":")) {
      literal(*member);
      return true;
    }
    if (!getter_head(at) || !at.take("return")) return false;
    if (!at.take_name()) return false;
    if (at.take(".")) {
      if (!at.take_name()) return false;
    } else if (at.take("[")) {
      if (!at.take_string() || !at.take("]")) return false;
    }
    if (!getter_tail(at)) return false;
    literal(*member);
    return true;
  }

  static bool getter_head(Cursor& at) {
    if (!at.take("get")) return false;
    if (at.take(":")) {
      if (!at.take("function")) return false;
      if (!at.at("(")) at.take_name();
    }
    return at.take("(", ")", "{");
  }

  static bool getter_tail(Cursor& at) {
    at.take(";");
    if (!at.take("}")) return false;
    at.take(",");
    return at.take("}", ")");
  }

  /// var a = require('a'), also within _interopRequireWildcard()
  void declaration(Cursor at) {
    at.next();
    const auto variable = at.take_name();
    if (!variable || !at.take("=")) return;
    at.take("_interopRequireWildcard", "(");
    if (const auto specifier = at.take_require()) required_[*variable] = *specifier;
  }

  /// Object.keys(a).forEach(function (k) {...exports[k] = a[k]...}), as compilers write `export *`.
  void star(Cursor at) {
    if (!at.take("Object", ".", "keys", "(")) return;
    const auto from = at.take_name();
    if (!from || !at.take(")", ".", "forEach", "(", "function", "(")) return;
    const auto key = at.take_name();
    if (!key || !at.take(")", "{", "if", "(", *key)) return;
    if (at.take("!", "=", "=")) {
      if (!at.take_literal("default") || !not_own(at, *key) || !at.take(")")) return;
    } else if (!star_returns(at, *from, *key)) {
      return;
    }
    if (!star_assigns(at, *from, *key)) return;
    at.take(";");
    if (!at.take("}", ")")) return;
    const auto found = required_.find(*from);
    if (found != required_.end()) reexport(found->second);
  }

  /// && !exports.hasOwnProperty(k), && !Object.prototype.hasOwnProperty.call(exports, k), or nothing
  static bool not_own(Cursor& at, std::string_view key) {
    if (!at.take("&", "&", "!")) return true;
    if (at.take("Object", ".", "prototype", ".", "hasOwnProperty", ".", "call", "("))
      return at.take_exports() && at.take(",", key, ")");
    return at.take_exports() && at.take(".", "hasOwnProperty", "(", key, ")");
  }

  /// The guards: k === 'default' || k === '__esModule') return; and those against names that are there
  /// already.
  static bool star_returns(Cursor& at, std::string_view from, std::string_view key) {
    if (!take_same(at) || !at.take_literal("default")) return false;
    if (!at.take("|", "|", key) || !take_same(at) || !at.take_literal("__esModule")) return false;
    if (!at.take(")", "return")) return false;
    at.take(";");
    if (at.take("if", "(", "Object", ".", "prototype", ".", "hasOwnProperty", ".", "call", "(")) {
      if (!at.take_name() || !at.take(",", key, ")", ")", "return")) return false;
      at.take(";");
    }
    if (at.take("if", "(", key, "in")) {
      if (!at.take_exports() || !at.take("&", "&") || !at.take_exports() || !at.take("[", key, "]") ||
          !take_same(at) || !take_member(at, from, key) || !at.take(")", "return"))
        return false;
      at.take(";");
    }
    return true;
  }

  static bool star_assigns(Cursor& at, std::string_view from, std::string_view key) {
    if (at.take_exports()) return at.take("[", key, "]", "=") && take_member(at, from, key);
    if (!at.take("Object", ".", "defineProperty", "(") || !at.take_exports() ||
        !at.take(",", key, ",", "{", "enumerable", ":", "true", ","))
      return false;
    return getter_head(at) && at.take("return") && take_member(at, from, key) && getter_tail(at);
  }

  const std::string_view source_;
  const std::vector<CjsToken>& tokens_;
  CjsExports found_;
  std::unordered_set<std::string> seen_;
  std::map<std::string_view, std::string_view> required_;  ///< variable → literal of its require()
};

}  // namespace

CjsExports find_cjs_exports(std::string_view source) {
  const auto tokens = cjs_tokens(source);
  return tokens ? Finder(source, *tokens).run() : CjsExports{};
}

}  // namespace tare::engine
