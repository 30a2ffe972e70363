#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tare::net {

/// One server-sent event.
struct ServerEvent {
  std::string name;  ///< "message" when the event names none
  std::string data;  ///< its data lines, joined by \n
  std::string id;    ///< the last one that the stream named, here or before
};

/// Parses an event stream (WHATWG HTML, section 9.2.6) from bytes that are split anywhere. Line ends are LF,
/// CR or CRLF; a byte order mark at the start and comments are skipped; an event that the stream's end cuts
/// is not reported.
class SseParser {
 public:
  /// An event larger than that throws Error(failed).
  explicit SseParser(std::size_t event_bytes = 1024 * 1024) : limit_(event_bytes) {}
  /// Calls `event` for each event that these bytes complete.
  void feed(std::string_view bytes, const std::function<void(const ServerEvent&)>& event);

 private:
  void take_line(std::string_view line, const std::function<void(const ServerEvent&)>& event);
  void take_field(std::string_view name, std::string_view value);
  void grow(std::size_t bytes);

  std::size_t limit_;
  std::size_t size_ = 0;  ///< of the event so far
  std::string line_;      ///< the start of a line that is not complete
  ServerEvent event_;
  bool has_data_ = false;
  bool at_start_ = true;
  bool after_cr_ = false;
};

/// The text of an event that holds this data: "data: …\n\n", with one such line for each line of it.
std::string sse_data(std::string_view data);

}  // namespace tare::net
