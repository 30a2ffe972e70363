#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "lab/process/child.hpp"
#include "lab/process/poll.hpp"

namespace tare::process {

struct LineOptions {
  /// The longest line that is taken, without its newline.
  std::size_t limit = std::size_t{16} << 20;
  /// How much of the end of the child's stderr is kept.
  std::size_t stderr_tail = std::size_t{64} << 10;
  /// Ends every wait.
  Interrupt interrupt{};
};

/// Lines to and from a child over its pipes. Every wait has a deadline, and whatever the child does with
/// its pipes cannot hang the caller: while one side waits, the other two are moved along. The child must
/// have been spawned with pipes for in, out and err (err may be missing) and must outlive this object.
/// One thread at a time.
class Lines {
 public:
  explicit Lines(Child& child, LineOptions options = {});

  enum class Status {
    ok,           ///< the line was written, or `text` is a line
    eof,          ///< the child closed that pipe; `text` is what came after its last newline
    timeout,      ///< the deadline passed; what was read or written so far is not lost
    too_long,     ///< a line passes the limit; nothing more can be read
    interrupted,  ///< LineOptions::interrupt came
  };
  struct Read {
    Status status = Status::eof;
    std::string text;
  };

  /// Writes `line` and a newline. After anything but `ok`, a part of the line may have been written, and
  /// the channel is only good for reading.
  Status write_line(std::string_view line, Instant deadline);

  /// The next line without its newline ("\r\n" counts as a newline). A deadline in the past takes what is
  /// there.
  Read read_line(Instant deadline);

  /// Tells the child that no more is to come.
  void close_input() { child_.in.reset(); }

  /// The end of what the child has written to stderr so far, read up to now.
  const std::string& stderr_tail();

 private:
  /// One poll and what it brings.
  Status turn(std::string_view& out, Instant deadline);
  bool has_line();
  void take_out();
  bool take_err();

  Child& child_;
  LineOptions options_;
  std::string buffer_;
  std::size_t searched_ = 0;  ///< no newline before here
  std::string err_;
};

}  // namespace tare::process
