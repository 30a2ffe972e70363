#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "protocol/eager.hpp"
#include "protocol/frame.hpp"
#include "runtime/guest/connection.hpp"
#include "runtime/guest/execution.hpp"

namespace tare::guest {

/// The frames of a stdio socket, in one buffer that bounds what is read ahead.
class OutputReader {
 public:
  struct Piece {
    Stream stream{};
    std::string_view bytes;
  };
  /// A piece of what has been read already, valid until the next read. Throws Error(input) for what is no
  /// output of a guest.
  std::optional<Piece> take();

  enum class Read { more, end, late };
  /// Reads once. Only when take() gave nothing. While it waits, `beside` takes in what the engine says, if
  /// there is one: a guest that sends more of that than the engine's socket holds would wait, too.
  Read read(int socket, std::optional<Instant> deadline, Connection* beside = nullptr);

 private:
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  Stream stream_{};
  std::size_t left_ = 0;  ///< of the frame at hand
  bool drained_ = true;   ///< the socket was empty after the last read
  Eager eager_;
};

struct Execution::State {
  std::shared_ptr<Connection> connection;
  std::uint32_t id = 0;
  std::shared_ptr<Connection::Record> record;
  Fd stdio;  ///< empty without pipes; open as long as this lives, as other threads may write
  bool output_open = false;
  OutputReader output;
  std::mutex writing;
  std::atomic<bool> ended = false;
  std::optional<Instant> returned;  ///< the end was, for the first time; of an engine that traces
};

}  // namespace tare::guest
