#include "net/sse.hpp"

#include <utility>

#include "base/error.hpp"

namespace tare::net {

void SseParser::feed(std::string_view bytes, const std::function<void(const ServerEvent&)>& event) {
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) {
      grow(bytes.size());
      line_.append(bytes);
      return;
    }
    grow(end);
    after_cr_ = bytes[end] == '\r';
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (line_.empty()) {
      take_line(line, event);
    } else {
      line_.append(line);
      take_line(std::exchange(line_, {}), event);
    }
  }
}

void SseParser::grow(std::size_t bytes) {
  size_ += bytes;
  if (size_ > limit_) throw Error(ErrorCode::failed, "an event of the stream is too large");
}

void SseParser::take_line(std::string_view line, const std::function<void(const ServerEvent&)>& event) {
  if (std::exchange(at_start_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) {
    size_ = 0;
    std::string name = std::exchange(event_.name, {});
    if (!std::exchange(has_data_, false)) return;
    ServerEvent complete{name.empty() ? "message" : std::move(name), std::exchange(event_.data, {}),
                         event_.id};
    event(complete);
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == 0) {
    size_ -= line.size();  // a comment keeps a connection alive, for hours
    return;
  }
  if (colon == std::string_view::npos) return take_field(line, {});
  std::string_view value = line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  take_field(line.substr(0, colon), value);
}

void SseParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data.append(value);
  } else if (name == "event") {
    event_.name = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    event_.id = value;
  }
}

std::string sse_data(std::string_view data) {
  std::string text;
  for (;;) {
    const std::size_t end = data.find_first_of("\r\n");
    text.append("data: ").append(data.substr(0, end)).append("\n");
    if (end == std::string_view::npos) break;
    data.remove_prefix(end + (data.substr(end).starts_with("\r\n") ? 2 : 1));
  }
  return text += '\n';
}

}  // namespace tare::net
