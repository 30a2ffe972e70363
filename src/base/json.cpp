#include "base/json.hpp"

#include <charconv>
#include <cmath>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>
#include <boost/json/value_stack.hpp>

#include "base/text.hpp"

namespace tare::json {
namespace {

/// Builds a value from the events of the parser. Boost's own handler takes doubles as the parser rounded
/// them, which is off by one unit in the last place now and then; here they are the nearest ones.
class ExactHandler {
 public:
  using Code = boost::json::error_code;
  using Text = boost::json::string_view;
  static constexpr std::size_t max_object_size = Object::max_size();
  static constexpr std::size_t max_array_size = Array::max_size();
  static constexpr std::size_t max_key_size = boost::json::string::max_size();
  static constexpr std::size_t max_string_size = boost::json::string::max_size();

  // The names and signatures are those that boost::json::basic_parser calls.
  bool on_document_begin(Code&) {
    stack_.reset();
    return true;
  }
  bool on_document_end(Code&) { return true; }
  bool on_object_begin(Code&) { return true; }
  bool on_object_end(std::size_t n, Code&) {
    stack_.push_object(n);
    return true;
  }
  bool on_array_begin(Code&) { return true; }
  bool on_array_end(std::size_t n, Code&) {
    stack_.push_array(n);
    return true;
  }
  bool on_key_part(Text text, std::size_t, Code&) {
    stack_.push_chars(text);
    return true;
  }
  bool on_key(Text text, std::size_t, Code&) {
    stack_.push_key(text);
    return true;
  }
  bool on_string_part(Text text, std::size_t, Code&) {
    stack_.push_chars(text);
    return true;
  }
  bool on_string(Text text, std::size_t, Code&) {
    stack_.push_string(text);
    return true;
  }
  bool on_number_part(Text text, Code&) {
    digits_.append(text);
    return true;
  }
  bool on_int64(std::int64_t number, Text, Code&) {
    stack_.push_int64(number);
    digits_.clear();
    return true;
  }
  bool on_uint64(std::uint64_t number, Text, Code&) {
    stack_.push_uint64(number);
    digits_.clear();
    return true;
  }
  bool on_double(double rounded, Text text, Code&) {
    digits_.append(text);
    double exact = 0;
    const auto [end, error] = std::from_chars(digits_.data(), digits_.data() + digits_.size(), exact);
    stack_.push_double(error == std::errc{} ? exact : rounded);
    digits_.clear();
    return true;
  }
  bool on_bool(bool value, Code&) {
    stack_.push_bool(value);
    return true;
  }
  bool on_null(Code&) {
    stack_.push_null();
    return true;
  }
  bool on_comment_part(Text, Code&) { return true; }
  bool on_comment(Text, Code&) { return true; }

  Value release() { return stack_.release(); }

 private:
  boost::json::value_stack stack_;
  std::string digits_;  // of a number whose text comes in parts
};

}  // namespace

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
  boost::json::basic_parser<ExactHandler> parser{boost::json::parse_options()};
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (error == boost::json::error::incomplete)
    throw fail(fmt::format("it ends early, after {} bytes", text.size()));
  if (error) throw fail(fmt::format("{} at byte {}", error.message(), used));
  if (const std::size_t rest = text.find_first_not_of(" \t\r\n", used); rest != std::string_view::npos) {
    throw fail(fmt::format("extra data at byte {}", rest));
  }
  return parser.handler().release();
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
