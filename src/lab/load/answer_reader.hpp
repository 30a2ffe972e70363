#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tare::load {

/// Reads answers to GET requests, HTTP/1.0 or 1.1 (RFC 9112), from bytes that are split anywhere. Where an
/// answer comes in one piece, nothing of it is copied.
class AnswerReader {
 public:
  static constexpr std::size_t most_head_bytes = 32 * 1024;  ///< of the headers, and of trailers

  enum class State : std::uint8_t {
    more,    ///< it is not complete
    done,    ///< it is; the next byte begins another one
    failed,  ///< `error` says why; nothing can be read any more
  };

  explicit AnswerReader(std::size_t most_body_bytes) : most_body_bytes_(most_body_bytes) {}

  /// Returns how many of the bytes it used: all of them unless the answer ends before.
  std::size_t feed(std::string_view bytes);
  /// The peer has ended: an answer without a length is complete then, any other one fails.
  void feed_end();

  State state() const { return state_; }
  int status() const { return status_; }  ///< 0 until the headers are there
  /// Once it is done. It lives as long as the bytes of the last `feed`, and until the next.
  std::string_view body() const { return body_; }
  /// Once it is done: another request may follow on this connection.
  bool keep_alive() const { return keep_alive_; }
  std::string_view error() const { return error_; }

 private:
  enum class Part : std::uint8_t { head, sized_body, endless_body, chunk_size, chunk, chunk_end, trailer };
  /// A text that ends with a mark, without that mark.
  struct Piece {
    std::string_view text;
    std::size_t used;
    bool whole;
  };

  void restart();
  std::size_t step(std::string_view bytes);
  Piece piece_until(std::string_view mark, std::string_view bytes);
  std::size_t read_head(std::string_view bytes);
  std::size_t read_sized(std::string_view bytes);
  std::size_t read_endless(std::string_view bytes);
  std::size_t read_chunk_size(std::string_view bytes);
  std::size_t read_chunk(std::string_view bytes);
  std::size_t read_chunk_end(std::string_view bytes);
  std::size_t read_trailer(std::string_view bytes);
  bool parse_head(std::string_view head);
  bool parse_status_line(std::string_view line);
  bool parse_header(std::string_view line);
  bool parse_length(std::string_view value);
  void begin_body();
  void finish(std::string_view body);
  bool fail(std::string_view why);

  std::size_t most_body_bytes_;
  State state_ = State::more;
  Part part_ = Part::head;
  int status_ = 0;
  bool keep_alive_ = false;
  bool chunked_ = false;
  bool has_length_ = false;
  std::size_t left_ = 0;     ///< of a body with a length, or of a chunk
  std::size_t trailer_ = 0;  ///< bytes of trailers
  std::string held_;         ///< of a head or a line that has not ended
  std::string collected_;    ///< a body that came in several pieces
  std::string_view body_;
  std::string_view error_;
};

}  // namespace tare::load
