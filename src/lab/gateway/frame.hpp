#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Reads frames without building them: a value is found by walking over the text once, and handed on as the
/// piece of text that it is. What is walked over is checked as far as finding its end needs.
namespace tare::lab_gateway {

enum class FrameKind : std::uint8_t { response, event };

struct Frame {
  FrameKind kind = FrameKind::event;
  std::string_view id;     ///< of a response, without quotes, as it stands in the text
  bool ok = false;         ///< of a response
  std::string_view body;   ///< payload, or the error of a response that is not ok; "null" when there is none
  std::string_view event;  ///< name
  std::optional<std::uint64_t> seq;
};

/// Nothing when the text is no frame: not a whole object, one with a member twice that means something, or
/// neither a response (an id that is a string, and ok) nor an event (a name).
std::optional<Frame> read_frame(std::string_view text);

/// The value of a member of an object (the first of that name), as it stands in the text; empty when there is
/// none. `path` may go deeper: "terminalReply.text".
std::string_view member(std::string_view object, std::string_view path);

/// The text of a JSON string with its quotes, as UTF-8: half a surrogate pair becomes U+FFFD. Nothing when it
/// is no string.
std::optional<std::string> text_of(std::string_view value);

/// The number that a value is. Nothing when it is none, or beyond 2^53 either way: more than a gateway
/// counts, and than can be calculated with.
std::optional<double> number_of(std::string_view value);

}  // namespace tare::lab_gateway
