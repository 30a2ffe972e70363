#include "lab/gate/toml_tables.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace tare::gate {
namespace {

TomlPlace place_of(const toml::source_region& region) {
  return {region.begin.line, region.begin.column};
}

TomlValue value_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return node.as_string()->get();
    case toml::node_type::integer:
      return static_cast<double>(node.as_integer()->get());
    case toml::node_type::floating_point:
      return node.as_floating_point()->get();
    case toml::node_type::boolean:
      return node.as_boolean()->get();
    case toml::node_type::array:
      return TomlOther{"an array"};
    case toml::node_type::table:
      return TomlOther{"a table"};
    default:
      return TomlOther{"a date or time"};
  }
}

TomlTable table_of(const toml::table& table) {
  TomlTable out;
  out.place = place_of(table.source());
  for (const auto& [key, node] : table)
    out.entries.push_back({std::string(key.str()), place_of(key.source()), value_of(node)});
  std::ranges::sort(out.entries, {},
                    [](const TomlEntry& e) { return std::tie(e.place.line, e.place.column); });
  return out;
}

/// The library would speak of single bytes here.
void refuse_other_encodings(std::string_view text, std::string_view source) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") ||
      text.substr(0, 4).find('\0') != std::string_view::npos) {
    throw Error(ErrorCode::input, fmt::format("{}:1:1: not TOML", source), "it is UTF-16",
                "save it as UTF-8");
  }
}

toml::table parse(std::string_view text, std::string_view source) {
  refuse_other_encodings(text, source);
  toml::parse_result result = toml::parse(text, source);
  if (result.failed()) {
    const toml::parse_error& error = result.error();
    throw Error(ErrorCode::input, fmt::format("{}: not TOML", at(source, place_of(error.source()))),
                std::string(error.description()));
  }
  return std::move(result).table();
}

}  // namespace

std::string at(std::string_view source, TomlPlace place) {
  return fmt::format("{}:{}:{}", source, place.line, place.column);
}

std::string kind_of(const TomlValue& value) {
  static constexpr std::array names{"a text", "a number", "true or false"};
  if (const auto* other = std::get_if<TomlOther>(&value)) return other->kind;
  return names.at(value.index());
}

std::vector<TomlTable> read_tables(std::string_view text, std::string_view source, std::string_view name) {
  const toml::table root = parse(text, source);
  const std::string header = fmt::format("[[{}]]", name);
  for (const auto& [key, node] : root) {
    if (key.str() == name) continue;
    const std::array known{std::string(name)};
    const auto near = text::did_you_mean(key.str(), known);
    throw Error(ErrorCode::input,
                fmt::format("{}: unknown key '{}'", at(source, place_of(key.source())), key.str()),
                fmt::format("only {} tables stand here", header),
                near ? fmt::format("did you mean {}?", header) : "");
  }
  const toml::node* found = root.get(name);
  if (found == nullptr)
    throw Error(ErrorCode::input, fmt::format("{}: no {} in it", source, header), "",
                "without a budget there is nothing to hold");
  const toml::array* array = found->as_array();
  const auto wrong = [&](const toml::node& node) {
    return Error(ErrorCode::input,
                 fmt::format("{}: '{}' is not a list of tables", at(source, place_of(node.source())), name),
                 "", fmt::format("write {} with two brackets", header));
  };
  if (array == nullptr) throw wrong(*found);
  if (array->empty()) throw Error(ErrorCode::input, fmt::format("{}: no {} in it", source, header));
  std::vector<TomlTable> tables;
  for (const toml::node& node : *array) {
    if (!node.is_table()) throw wrong(node);
    tables.push_back(table_of(*node.as_table()));
  }
  return tables;
}

}  // namespace tare::gate
