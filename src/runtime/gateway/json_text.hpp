#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// JSON written straight into strings: what is sent thousands of times a second is never a tree of values.
namespace tare::gateway {

/// Appends a JSON string. `text` is valid UTF-8, as all that was read from a WebSocket, parsed as JSON or
/// came from a provider is.
void append_string(std::string& out, std::string_view text);
void append_number(std::string& out, std::int64_t number);
/// The fewest digits that read back exactly; null for what is not finite.
void append_number(std::string& out, double number);

/// One JSON object that is being written. Keys are plain ASCII.
///
///   std::string out;
///   ObjectText(out).text("key", key).number("limit", 100).close();
class ObjectText {
 public:
  explicit ObjectText(std::string& out) : out_(out) { out_ += '{'; }
  ObjectText(const ObjectText&) = delete;
  ObjectText& operator=(const ObjectText&) = delete;

  ObjectText& text(std::string_view key, std::string_view value);
  ObjectText& number(std::string_view key, std::int64_t value);
  ObjectText& decimal(std::string_view key, double value);
  ObjectText& boolean(std::string_view key, bool value);
  ObjectText& null(std::string_view key);
  /// A value that is JSON text already.
  ObjectText& json(std::string_view key, std::string_view value);
  /// The key alone: the caller appends the value.
  std::string& value(std::string_view key);
  void close() { out_ += '}'; }

 private:
  std::string& out_;
  bool empty_ = true;
};

/// At most so many bytes of it, cut between two characters.
std::string beginning_of(std::string_view text, std::size_t most);

}  // namespace tare::gateway
