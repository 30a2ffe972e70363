#include "base/json.hpp"

#include <charconv>
#include <cmath>

#include <boost/json/src.hpp>

#include "base/text.hpp"

namespace tare::json {

Value parse(std::string_view text, std::string_view source) {
  const auto fail = [&](std::string why) -> Error {
    return Error(ErrorCode::input, fmt::format("{}: not JSON", source), std::move(why));
  };
  if (text.empty()) throw fail("it is empty");
  if (text.starts_with("\xEF\xBB\xBF"))
    throw fail("it starts with a byte order mark; save it as plain UTF-8");
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw fail("it is UTF-16; save it as UTF-8");
  boost::json::error_code error;
  boost::json::parser parser;
  const std::size_t used = parser.write_some(text.data(), text.size(), error);
  if (error == boost::json::error::incomplete)
    throw fail(fmt::format("it ends early, after {} bytes", text.size()));
  if (error) throw fail(fmt::format("{} at byte {}", error.message(), used));
  if (const std::size_t rest = text.find_first_not_of(" \t\r\n", used); rest != std::string_view::npos) {
    throw fail(fmt::format("extra data at byte {}", rest));
  }
  return parser.release();
}

std::string camel(std::string_view name) {
  std::string out;
  bool upper = false;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return out;
}

void Writer::new_line() {
  out_ += '\n';
  out_.append(levels_.size() * 2, ' ');
}

void Writer::open(char bracket, bool inline_elements) {
  out_ += bracket;
  levels_.push_back({inline_elements});
}

void Writer::close(char bracket) {
  const Level level = levels_.back();
  levels_.pop_back();
  if (style_ == Style::pretty && !level.inline_elements && !level.empty) new_line();
  out_ += bracket;
}

void Writer::separate() {
  Level& level = levels_.back();
  if (!level.empty) out_ += ',';
  if (style_ == Style::pretty) {
    if (!level.inline_elements) {
      new_line();
    } else if (!level.empty) {
      out_ += ' ';
    }
  }
  level.empty = false;
}

void Writer::begin_object() {
  open('{', false);
}
void Writer::end_object() {
  close('}');
}
void Writer::begin_array(bool scalars) {
  open('[', scalars);
}
void Writer::end_array() {
  close(']');
}
void Writer::element() {
  separate();
}

void Writer::key(std::string_view name) {
  separate();
  string(name);
  out_ += style_ == Style::pretty ? ": " : ":";
}

void Writer::number(double value) {
  if (!std::isfinite(value)) {
    throw Error(ErrorCode::failed, "a number of the document is not finite",
                "JSON has no NaN and no infinity");
  }
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out_.append(digits, end);
}

void Writer::string(std::string_view value) {
  static constexpr char hex[] = "0123456789abcdef";
  out_ += '"';
  const std::string valid = text::escape_bad_utf8(value);
  for (const char c : valid) {
    switch (c) {
      case '"':
        out_ += "\\\"";
        break;
      case '\\':
        out_ += "\\\\";
        break;
      case '\n':
        out_ += "\\n";
        break;
      case '\r':
        out_ += "\\r";
        break;
      case '\t':
        out_ += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out_ += "\\u00";
          out_ += hex[(c >> 4) & 0xF];
          out_ += hex[c & 0xF];
        } else {
          out_ += c;
        }
    }
  }
  out_ += '"';
}

namespace detail {

std::string_view kind_name(const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::bool_:
      return "a boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_:
      return "a number";
    case boost::json::kind::string:
      return "a string";
    case boost::json::kind::array:
      return "an array";
    case boost::json::kind::object:
      return "an object";
  }
  return "nothing";
}

void write_value(Writer& writer, const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return writer.null();
    case boost::json::kind::bool_:
      return writer.boolean(value.get_bool());
    case boost::json::kind::int64:
      return writer.integer(std::int64_t{value.get_int64()});
    case boost::json::kind::uint64:
      return writer.integer(std::uint64_t{value.get_uint64()});
    case boost::json::kind::double_:
      return writer.number(value.get_double());
    case boost::json::kind::string:
      return writer.string(value.get_string());
    case boost::json::kind::array: {
      const Array& array = value.get_array();
      const bool scalars =
          std::all_of(array.begin(), array.end(), [](const Value& v) { return !v.is_structured(); });
      writer.begin_array(scalars);
      for (const Value& item : array) {
        writer.element();
        write_value(writer, item);
      }
      return writer.end_array();
    }
    case boost::json::kind::object: {
      writer.begin_object();
      for (const auto& entry : value.get_object()) {
        writer.key(std::string_view(entry.key()));
        write_value(writer, entry.value());
      }
      return writer.end_object();
    }
  }
}

}  // namespace detail
}  // namespace tare::json
