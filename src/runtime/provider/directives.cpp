#include "runtime/provider/directives.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace tare::provider {
namespace {

constexpr std::string_view opening = "[[";
constexpr std::string_view closing = "]]";

[[noreturn]] void refuse(std::string_view directive, const std::string& why) {
  throw Error(ErrorCode::input, fmt::format("[[{}]] in the text cannot be done", directive), why);
}

unsigned whole(std::string_view directive, std::string_view value, unsigned most) {
  const auto number = text::to_int(value);
  if (!number || *number < 1 || *number > most) refuse(directive, fmt::format("it takes 1 to {}", most));
  return static_cast<unsigned>(*number);
}

/// How long the JSON object at the start of `text` is, or nothing.
std::optional<std::size_t> object_length(std::string_view text) {
  if (!text.starts_with('{')) return {};
  boost::json::stream_parser parser;
  boost::json::error_code error;
  const std::size_t length = parser.write_some(text.data(), text.size(), error);
  if (error || !parser.done()) return {};
  return length;
}

/// `text` begins behind "[[tool:". Returns how much of it the directive takes.
std::size_t read_tool(std::string_view text, Directives& directives) {
  const std::size_t name_end = std::min(text.find(' '), text.find(closing));
  if (name_end == std::string_view::npos || name_end == 0) refuse("tool:", "it takes NAME or NAME {JSON}");
  WantedCall call{std::string(text.substr(0, name_end)), "{}"};
  std::size_t at = name_end;
  if (text[at] == ' ') {
    const auto length = object_length(text.substr(++at));
    if (!length) refuse("tool:" + call.name, "its arguments are not a JSON object");
    call.arguments = text::trim(text.substr(at, *length));
    at += *length;
  }
  if (!text.substr(at).starts_with(closing))
    refuse("tool:" + call.name, "]] is missing behind its arguments");
  directives.calls.push_back(std::move(call));
  return at + closing.size();
}

void read_one(std::string_view directive, Directives& directives) {
  const std::size_t colon = directive.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = directive.substr(0, colon);
  const std::string_view value = directive.substr(colon + 1);
  if (name == "marker") {
    if (value.empty()) refuse(directive, "the marker is empty");
    directives.marker = value;
  } else if (name == "chunks") {
    directives.chunks = whole(directive, value, max_chunks);
  } else if (name == "delay") {
    directives.delay = parse_delay(value, "[[delay:]]");
  } else if (name == "fault") {
    directives.fault = parse_fault(value, "[[fault:]]");
  } else if (name == "subagents") {
    directives.subagents = whole(directive, value, max_subagents);
  }
}

}  // namespace

Directives parse_directives(std::string_view text) {
  constexpr std::string_view tool = "tool:";
  Directives directives;
  for (std::size_t at = text.find(opening); at != std::string_view::npos; at = text.find(opening)) {
    text.remove_prefix(at + opening.size());
    if (text.starts_with(tool)) {
      text.remove_prefix(tool.size());
      text.remove_prefix(read_tool(text, directives));
      continue;
    }
    const std::size_t end = text.find(closing);
    if (end == std::string_view::npos) break;
    read_one(text.substr(0, end), directives);
  }
  return directives;
}

Nanoseconds parse_delay(std::string_view text, std::string_view what) {
  const auto ms = text::to_double(text);
  if (!ms || !(*ms >= 0) || *ms > max_delay_ms) {
    throw Error(ErrorCode::input,
                fmt::format("{} must be 0 to {} milliseconds, got '{}'", what, max_delay_ms, text));
  }
  return Nanoseconds(std::llround(*ms * 1e6));
}

}  // namespace tare::provider
