#include "lab/gateway/frame.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/text.hpp"

namespace tare::lab_gateway {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// The high bit of each byte that is this character, and perhaps of some after the first such one.
std::uint64_t matches(std::uint64_t word, char character) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  const std::uint64_t others = word ^ (ones * static_cast<unsigned char>(character));
  return (others - ones) & ~others & (ones << 7);
}

/// Where a string ends whose opening quote is behind: after its closing one, or null.
const char* skip_string(const char* at, const char* end) {
  while (at != end) {
    if constexpr (std::endian::native == std::endian::little) {
      std::uint64_t word = 0;
      while (end - at >= static_cast<std::ptrdiff_t>(sizeof(word))) {
        std::memcpy(&word, at, sizeof(word));
        const std::uint64_t found = matches(word, '"') | matches(word, '\\');
        if (found != 0) {
          at += std::countr_zero(found) / 8;
          break;
        }
        at += sizeof(word);
      }
      if (at == end) break;
    }
    if (*at == '"') return at + 1;
    if (*at == '\\' && ++at == end) break;
    ++at;
  }
  return nullptr;
}

enum class Mark : std::uint8_t { none, quote, open, close };

constexpr std::array<Mark, 256> marks = [] {
  std::array<Mark, 256> table{};
  table['"'] = Mark::quote;
  table['{'] = table['['] = Mark::open;
  table['}'] = table[']'] = Mark::close;
  return table;
}();

/// Where an object or array ends whose opening bracket is behind. Brackets are counted, not matched.
const char* skip_nested(const char* at, const char* end) {
  std::size_t depth = 1;
  while (at != end) {
    switch (marks[static_cast<unsigned char>(*at++)]) {
      case Mark::none:
        break;
      case Mark::quote:
        at = skip_string(at, end);
        if (at == nullptr) return nullptr;
        break;
      case Mark::open:
        ++depth;
        break;
      case Mark::close:
        if (--depth == 0) return at;
        break;
    }
  }
  return nullptr;
}

/// Where a number or one of the three words ends, or null.
const char* skip_plain(const char* at, const char* end) {
  const std::string_view rest(at, static_cast<std::size_t>(end - at));
  for (const std::string_view word : {"true", "false", "null"}) {
    if (rest.starts_with(word)) return at + word.size();
  }
  const std::size_t size = std::min(rest.find_first_not_of("0123456789+-.eE"), rest.size());
  return size == 0 ? nullptr : at + size;
}

const char* skip_value(const char* at, const char* end) {
  if (at == end) return nullptr;
  if (*at == '"') return skip_string(at + 1, end);
  if (*at == '{' || *at == '[') return skip_nested(at + 1, end);
  return skip_plain(at, end);
}

/// The members of an object, one after the other.
class Members {
 public:
  explicit Members(std::string_view object) : at_(object.data()), end_(at_ + object.size()) { take('{'); }

  /// False at the end of the object, and where the text is none.
  bool next() {
    if (at_ == nullptr || (first_ && take_if('}'))) return close();
    if (!first_) {
      if (take_if('}')) return close();
      take(',');
    }
    first_ = false;
    take('"');
    if (at_ == nullptr) return false;
    const char* const key = at_;
    at_ = skip_string(at_, end_);
    if (at_ == nullptr) return false;
    key_ = {key, static_cast<std::size_t>(at_ - key - 1)};
    take(':');
    skip_spaces();
    const char* const value = at_;
    if (at_ != nullptr) at_ = skip_value(at_, end_);
    if (at_ == nullptr) return false;
    value_ = {value, static_cast<std::size_t>(at_ - value)};
    return true;
  }
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  /// The object ended as it should, and nothing follows it.
  bool whole() const { return whole_; }

 private:
  void skip_spaces() {
    while (at_ != nullptr && at_ != end_ && is_space(*at_)) ++at_;
  }
  bool take_if(char c) {
    skip_spaces();
    if (at_ == nullptr || at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void take(char c) {
    if (!take_if(c)) at_ = nullptr;
  }
  bool close() {
    skip_spaces();
    whole_ = at_ != nullptr && at_ == end_;
    at_ = nullptr;
    return false;
  }

  const char* at_;  ///< null at the end
  const char* end_;
  std::string_view key_;
  std::string_view value_;
  bool first_ = true;
  bool whole_ = false;
};

/// What is between the quotes of a string; nothing when the value is none.
std::optional<std::string_view> inside(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return std::nullopt;
  return value.substr(1, value.size() - 2);
}

/// The members of a frame that mean something, as they stand in the text; empty where there are none.
struct Parts {
  std::string_view type, id, ok, payload, error, event, seq;

  std::string_view* find(std::string_view key) {
    switch (key.size()) {
      case 2:
        return key == "id" ? &id : key == "ok" ? &ok : nullptr;
      case 3:
        return key == "seq" ? &seq : nullptr;
      case 4:
        return key == "type" ? &type : nullptr;
      case 5:
        return key == "event" ? &event : key == "error" ? &error : nullptr;
      case 7:
        return key == "payload" ? &payload : nullptr;
      default:
        return nullptr;
    }
  }
};

std::optional<Frame> response(const Parts& parts) {
  const auto id = inside(parts.id);
  if (!id || (parts.ok != "true" && parts.ok != "false")) return std::nullopt;
  Frame frame{FrameKind::response, *id, parts.ok == "true", {}, {}, {}};
  frame.body = frame.ok ? parts.payload : parts.error;
  if (frame.body.empty()) frame.body = "null";
  return frame;
}

std::optional<Frame> event(const Parts& parts) {
  const auto name = inside(parts.event);
  if (!name) return std::nullopt;
  Frame frame{FrameKind::event, {}, false, parts.payload, *name, {}};
  if (frame.body.empty()) frame.body = "null";
  if (parts.seq.empty() || parts.seq == "null") return frame;
  std::uint64_t seq = 0;
  const char* const end = parts.seq.data() + parts.seq.size();
  const auto [stop, failure] = std::from_chars(parts.seq.data(), end, seq);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  frame.seq = seq;
  return frame;
}

void append_code_point(std::string& out, std::uint32_t point) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((point >> shift) & 0x3F)); };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | (point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0 | (point >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Takes the four digits of a \u escape.
std::optional<std::uint32_t> take_unit(std::string_view& rest) {
  std::uint32_t unit = 0;
  if (rest.size() < 4) return std::nullopt;
  const auto [stop, failure] = std::from_chars(rest.data(), rest.data() + 4, unit, 16);
  if (failure != std::errc{} || stop != rest.data() + 4) return std::nullopt;
  rest.remove_prefix(4);
  return unit;
}

/// Takes what follows \u: a unit, or a pair of them. Half a pair becomes U+FFFD, as it has no UTF-8.
bool take_unicode(std::string_view& rest, std::string& out) {
  const auto unit = take_unit(rest);
  if (!unit) return false;
  if (*unit < 0xD800 || *unit > 0xDFFF) {
    append_code_point(out, *unit);
    return true;
  }
  if (*unit < 0xDC00 && rest.starts_with("\\u")) {
    std::string_view after = rest.substr(2);
    const auto low = take_unit(after);
    if (low && *low >= 0xDC00 && *low <= 0xDFFF) {
      rest = after;
      append_code_point(out, 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00));
      return true;
    }
  }
  append_code_point(out, 0xFFFD);
  return true;
}

bool take_escape(std::string_view& rest, std::string& out) {
  constexpr std::string_view names = "\"\\/bfnrt";
  constexpr std::string_view values = "\"\\/\b\f\n\r\t";
  if (rest.empty()) return false;
  const char name = rest.front();
  rest.remove_prefix(1);
  if (name == 'u') return take_unicode(rest, out);
  const std::size_t index = names.find(name);
  if (index == std::string_view::npos) return false;
  out += values[index];
  return true;
}

}  // namespace

std::optional<Frame> read_frame(std::string_view text) {
  Parts parts;
  Members members(text);
  while (members.next()) {
    std::string_view* const part = parts.find(members.key());
    if (part == nullptr) continue;
    if (!part->empty()) return std::nullopt;  // which of the two is meant, nobody knows
    *part = members.value();
  }
  if (!members.whole()) return std::nullopt;
  if (parts.type == R"("event")") return event(parts);
  if (parts.type == R"("res")") return response(parts);
  return std::nullopt;
}

std::string_view member(std::string_view object, std::string_view path) {
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    std::string_view found;
    Members members(object);
    while (found.empty() && members.next()) {
      if (members.key() == name) found = members.value();
    }
    if (found.empty()) return {};
    object = found;
  }
  return object;
}

std::optional<std::string> text_of(std::string_view value) {
  const auto text = inside(value);
  if (!text) return std::nullopt;
  std::string out;
  out.reserve(text->size());
  for (std::string_view rest = *text; !rest.empty();) {
    std::size_t plain = 0;
    while (plain < rest.size() && rest[plain] != '\\' && rest[plain] != '"' &&
           static_cast<unsigned char>(rest[plain]) >= 0x20)
      ++plain;
    out.append(rest.substr(0, plain));
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    if (rest.front() != '\\') return std::nullopt;
    rest.remove_prefix(1);
    if (!take_escape(rest, out)) return std::nullopt;
  }
  return value.back() == '"' ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<double> number_of(std::string_view value) {
  constexpr double most = 9'007'199'254'740'992;
  const auto number = text::to_double(value);
  return number && std::abs(*number) <= most ? number : std::nullopt;
}

}  // namespace tare::lab_gateway
