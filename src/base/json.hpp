#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11.hpp>
#include <fmt/format.h>

#include "base/error.hpp"

/// JSON (RFC 8259) for structs described with BOOST_DESCRIBE_STRUCT and enums described with
/// BOOST_DESCRIBE_ENUM.
///
/// A member `max_rss_bytes` is the key "maxRssBytes". An optional member may be absent or null when read
/// and is written as null. Doubles are written with the fewest digits that read back exactly; NaN and
/// infinities are refused, as JSON has no such numbers. Bad UTF-8 in a string is escaped, never dropped.
namespace tare::json {

using Value = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;

/// Parses one JSON text. `source` names it in errors: "out/run.json: not JSON (syntax error at byte 17)".
/// A byte order mark and UTF-16 are named as such. Throws Error(input).
Value parse(std::string_view text, std::string_view source);

enum class Unknown { ignore, refuse };

/// snake_case to camelCase.
std::string camel(std::string_view name);

/// Streams JSON text into a string, so that a large document is never held twice.
class Writer {
 public:
  enum class Style {
    compact,  ///< one line
    pretty,   ///< indented; an array of numbers or strings stays on one line
  };
  explicit Writer(std::string& out, Style style) : out_(out), style_(style) {}

  void begin_object();
  void end_object();
  void begin_array(bool scalars);
  void end_array();
  void key(std::string_view name);
  void element();  ///< before each element of an array

  void null() { out_ += "null"; }
  void boolean(bool value) { out_ += value ? "true" : "false"; }
  void integer(std::int64_t value) { out_ += std::to_string(value); }
  void integer(std::uint64_t value) { out_ += std::to_string(value); }
  void number(double value);  ///< throws Error(failed) unless finite
  void string(std::string_view value);

 private:
  void open(char bracket, bool inline_elements);
  void close(char bracket);
  void separate();
  void new_line();

  struct Level {
    bool inline_elements;
    bool empty = true;
  };
  std::string& out_;
  Style style_;
  std::vector<Level> levels_;
};

namespace detail {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsArray : std::false_type {};
template <class T, std::size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};

template <class T>
inline constexpr bool is_described_struct =
    boost::describe::has_describe_members<T>::value && !std::is_union_v<T>;
template <class T>
inline constexpr bool is_scalar =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>;

template <class T>
constexpr bool is_scalar_element() {
  if constexpr (IsOptional<T>::value) {
    return is_scalar<typename T::value_type>;
  } else {
    return is_scalar<T>;
  }
}

void write_value(Writer& writer, const Value& value);

template <class T>
void write(Writer& writer, const T& value) {
  if constexpr (std::is_same_v<T, Value>) {
    write_value(writer, value);
  } else if constexpr (IsOptional<T>::value) {
    value ? write(writer, *value) : writer.null();
  } else if constexpr (std::is_same_v<T, bool>) {
    writer.boolean(value);
  } else if constexpr (std::is_enum_v<T>) {
    writer.string(boost::describe::enum_to_string(value, "?"));
  } else if constexpr (std::is_floating_point_v<T>) {
    writer.number(value);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    writer.integer(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    writer.integer(static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    writer.string(value);
  } else if constexpr (IsVector<T>::value || IsArray<T>::value) {
    writer.begin_array(is_scalar_element<typename T::value_type>());
    for (const auto& item : value) {
      writer.element();
      write<typename T::value_type>(writer, item);
    }
    writer.end_array();
  } else if constexpr (IsMap<T>::value) {
    writer.begin_object();
    for (const auto& [name, item] : value) {
      writer.key(name);
      write(writer, item);
    }
    writer.end_object();
  } else {
    static_assert(is_described_struct<T>, "describe this struct with BOOST_DESCRIBE_STRUCT");
    writer.begin_object();
    boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
        [&](auto member) {
          static const std::string name = camel(member.name);
          writer.key(name);
          write(writer, value.*member.pointer);
        });
    writer.end_object();
  }
}

/// Where in the document a value stands, for errors: rows[3].metrics.total.unit
class Path {
 public:
  explicit Path(std::string_view source) : text_(source) {}
  Path member(std::string_view name) const {
    return Path(*this, (has_steps_ ? "." : ": ") + std::string(name));
  }
  Path element(std::size_t index) const {
    return Path(*this, (has_steps_ ? "[" : ": [") + std::to_string(index) + "]");
  }
  [[noreturn]] void fail(std::string_view problem) const {
    throw Error(ErrorCode::input, text_, std::string(problem));
  }

 private:
  Path(const Path& parent, const std::string& step) : text_(parent.text_ + step), has_steps_(true) {}
  std::string text_;
  bool has_steps_ = false;
};

std::string_view kind_name(const Value& value);

template <class T>
T read(const Value& value, const Path& path, Unknown unknown);

template <class T>
T read_struct(const Value& value, const Path& path, Unknown unknown) {
  const Object* object = value.if_object();
  if (object == nullptr) path.fail(fmt::format("expected an object, got {}", kind_name(value)));
  T result{};
  std::size_t known = 0;
  boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
      [&](auto member) {
        static const std::string name = camel(member.name);
        using Member = std::remove_cvref_t<decltype(result.*member.pointer)>;
        if (const Value* found = object->if_contains(name)) {
          ++known;
          result.*member.pointer = read<Member>(*found, path.member(name), unknown);
        } else if constexpr (!IsOptional<Member>::value) {
          path.member(name).fail("missing");
        }
      });
  if (unknown == Unknown::refuse && known != object->size()) {
    for (const auto& entry : *object) {
      bool found = false;
      boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
          [&](auto member) { found = found || camel(member.name) == std::string_view(entry.key()); });
      if (!found) path.member(std::string_view(entry.key())).fail("unknown member");
    }
  }
  return result;
}

template <class T>
T read(const Value& value, const Path& path, Unknown unknown) {
  if constexpr (std::is_same_v<T, Value>) {
    return value;
  } else if constexpr (IsOptional<T>::value) {
    if (value.is_null()) return std::nullopt;
    return read<typename T::value_type>(value, path, unknown);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_bool()) path.fail(fmt::format("expected true or false, got {}", kind_name(value)));
    return value.get_bool();
  } else if constexpr (std::is_enum_v<T>) {
    T result{};
    const boost::json::string* name = value.if_string();
    if (name == nullptr || !boost::describe::enum_from_string(name->c_str(), result)) {
      path.fail(name == nullptr ? fmt::format("expected a name, got {}", kind_name(value))
                                : fmt::format("unknown name '{}'", name->c_str()));
    }
    return result;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!value.is_number()) path.fail(fmt::format("expected a number, got {}", kind_name(value)));
    return value.to_number<T>();
  } else if constexpr (std::is_integral_v<T>) {
    boost::json::error_code error;
    const T number = value.is_number() ? value.to_number<T>(error) : T{};
    if (!value.is_number() || error)
      path.fail(fmt::format("expected a whole number, got {}", kind_name(value)));
    return number;
  } else if constexpr (std::is_same_v<T, std::string>) {
    const boost::json::string* text = value.if_string();
    if (text == nullptr) path.fail(fmt::format("expected a string, got {}", kind_name(value)));
    return std::string(*text);
  } else if constexpr (IsVector<T>::value) {
    const Array* array = value.if_array();
    if (array == nullptr) path.fail(fmt::format("expected an array, got {}", kind_name(value)));
    T result;
    result.reserve(array->size());
    for (std::size_t i = 0; i < array->size(); ++i) {
      const Value& item = (*array)[i];
      if constexpr (std::is_arithmetic_v<typename T::value_type>) {
        // The common, large case: no path is built unless it is needed.
        if (item.is_number()) {
          boost::json::error_code error;
          const auto number = item.to_number<typename T::value_type>(error);
          if (!error) {
            result.push_back(number);
            continue;
          }
        }
      }
      result.push_back(read<typename T::value_type>(item, path.element(i), unknown));
    }
    return result;
  } else if constexpr (IsArray<T>::value) {
    const Array* array = value.if_array();
    if (array == nullptr) path.fail(fmt::format("expected an array, got {}", kind_name(value)));
    T result{};
    if (array->size() != result.size()) {
      path.fail(fmt::format("expected {} elements, got {}", result.size(), array->size()));
    }
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = read<typename T::value_type>((*array)[i], path.element(i), unknown);
    }
    return result;
  } else if constexpr (IsMap<T>::value) {
    const Object* object = value.if_object();
    if (object == nullptr) path.fail(fmt::format("expected an object, got {}", kind_name(value)));
    T result;
    for (const auto& entry : *object) {
      result.emplace(
          std::string(entry.key()),
          read<typename T::mapped_type>(entry.value(), path.member(std::string_view(entry.key())), unknown));
    }
    return result;
  } else {
    static_assert(is_described_struct<T>, "describe this struct with BOOST_DESCRIBE_STRUCT");
    return read_struct<T>(value, path, unknown);
  }
}

}  // namespace detail

/// A struct out of JSON. Throws Error(input) that names the place: "run.json: rows[3].unit (missing)".
template <class T>
T read(const Value& value, std::string_view source, Unknown unknown = Unknown::ignore) {
  return detail::read<T>(value, detail::Path(source), unknown);
}

/// A struct as JSON text, appended to `out`.
template <class T>
void write(std::string& out, const T& value, Writer::Style style) {
  Writer writer(out, style);
  detail::write(writer, value);
}

/// One line of JSON, without a newline.
template <class T>
std::string line(const T& value) {
  std::string out;
  write(out, value, Writer::Style::compact);
  return out;
}

/// Indented JSON that ends with a newline.
template <class T>
std::string pretty(const T& value) {
  std::string out;
  write(out, value, Writer::Style::pretty);
  out += '\n';
  return out;
}

}  // namespace tare::json
