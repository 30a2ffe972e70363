#include "engine/modules/package_config.hpp"

#include "engine/modules/cjs_tokens.hpp"

namespace tare::engine {
namespace {

bool is_json_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Reader {
 public:
  explicit Reader(std::string_view json) : json_(json) {
    if (json_.starts_with("\xEF\xBB\xBF")) json_.remove_prefix(3);
  }

  std::optional<PackageConfig> run() {
    if (!take('{')) return std::nullopt;
    if (!take('}')) {
      do {
        if (!member()) return std::nullopt;
      } while (take(','));
      if (!take('}')) return std::nullopt;
    }
    skip_space();
    if (at_ != json_.size()) return std::nullopt;
    return std::move(config_);
  }

 private:
  void skip_space() {
    while (at_ < json_.size() && is_json_space(json_[at_])) ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ >= json_.size() || json_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// A string with its quotes; empty when there is none.
  std::string_view string() {
    skip_space();
    const std::size_t start = at_;
    if (at_ >= json_.size() || json_[at_] != '"') return {};
    for (++at_; at_ < json_.size(); ++at_) {
      if (json_[at_] == '\\') {
        ++at_;
      } else if (json_[at_] == '"') {
        ++at_;
        return json_.substr(start, at_ - start);
      }
    }
    return {};
  }

  /// A value as it is written, found by its brackets alone; empty when it has no end.
  std::string_view value() {
    skip_space();
    const std::size_t start = at_;
    std::size_t depth = 0;
    while (at_ < json_.size()) {
      const char c = json_[at_];
      if (c == '"') {
        if (string().empty()) return {};
        if (depth == 0) return json_.substr(start, at_ - start);
        continue;
      }
      if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth == 0) break;
        if (--depth == 0) {
          ++at_;
          return json_.substr(start, at_ - start);
        }
      } else if (depth == 0 && (c == ',' || is_json_space(c))) {
        break;
      }
      ++at_;
    }
    return depth == 0 ? json_.substr(start, at_ - start) : std::string_view();
  }

  bool member() {
    const std::string_view name = string();
    if (name.empty() || !take(':')) return false;
    const std::string_view text = value();
    if (text.empty()) return false;
    if (name == "\"name\"") return text_of(text, config_.name);
    if (name == "\"type\"") return type(text);
    if (name == "\"main\"") return text[0] != '"' || text_of(text, config_.main);
    if (name == "\"exports\"") return targets(text, config_.exports);
    if (name == "\"imports\"") return targets(text, config_.imports);
    return true;
  }

  static bool text_of(std::string_view literal, std::optional<std::string>& to) {
    if (literal[0] != '"') return false;
    // The escapes of JSON mean the same in JavaScript.
    to = cjs_string(literal);
    return to.has_value();
  }

  bool type(std::string_view literal) {
    if (literal[0] != '"') return false;
    config_.type = literal == "\"module\""     ? PackageConfig::Type::module
                   : literal == "\"commonjs\"" ? PackageConfig::Type::commonjs
                                               : PackageConfig::Type::none;
    return true;
  }

  static bool targets(std::string_view text, std::optional<std::string>& to) {
    if (text[0] == '"') return text_of(text, to);
    if (text[0] != '{' && text[0] != '[') return true;
    to = std::string(text);
    return true;
  }

  std::string_view json_;
  std::size_t at_ = 0;
  PackageConfig config_;
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<PackageConfig> parse_package_config(std::string_view json) {
  return Reader(json).run();
}

std::optional<std::string> file_url_path(std::string_view url) {
  if (!url.starts_with("file:")) return std::nullopt;
  url.remove_prefix(5);
  if (url.starts_with("//")) {
    url.remove_prefix(2);
    if (!url.starts_with('/')) return std::nullopt;
  }
  url = url.substr(0, url.find_first_of("?#"));
  std::string path;
  path.reserve(url.size());
  for (std::size_t i = 0; i < url.size(); ++i) {
    const int high = url[i] == '%' && i + 2 < url.size() ? hex_digit(url[i + 1]) : -1;
    const int low = high < 0 ? -1 : hex_digit(url[i + 2]);
    if (low < 0) {
      path += url[i];
      continue;
    }
    const char c = static_cast<char>(high * 16 + low);
    if (c == '/') return std::nullopt;
    path += c;
    i += 2;
  }
  return path;
}

}  // namespace tare::engine
