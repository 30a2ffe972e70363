#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tare::net {

/// One server-sent event.
struct ServerEvent {
  std::string name;  ///< "message" when the stream names none
  std::string data;  ///< its data lines, joined by \n
  std::string id;
};

/// Parses an event stream (WHATWG HTML, section 9.2.6) from bytes that are split anywhere. Line ends are LF, CR or CRLF; a
/// byte order mark at the start and comments are skipped; an event that the stream's end cuts is not reported.
class SseParser {
 public:
  /// An event larger than that throws Error(failed).
  explicit SseParser(std::size_t event_bytes = 1024 * 1024);
  /// Calls `event` for each event that these bytes complete.
  void feed(std::string_view bytes, const std::function<void(const ServerEvent&)>& event);

 private:
  std::size_t limit_;
  std::string line_;
  ServerEvent event_;
};

/// The text of an event that holds one line of data: "data: …\n\n".
std::string sse_data(std::string_view data);

}  // namespace tare::net
