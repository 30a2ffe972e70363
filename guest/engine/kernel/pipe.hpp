#pragma once

#include <memory>

#include "engine/kernel/counters.hpp"
#include "engine/kernel/description.hpp"

namespace tare::kernel {

/// Bytes that a pipe holds at most.
inline constexpr std::size_t pipe_capacity = 64 << 10;
/// Once a Vm has so many pipes, further ones hold pipe_atomic bytes each: a guest must not fill the engine's
/// memory with pipes that nobody reads (as Linux bounds the pipe pages of a user).
inline constexpr std::size_t full_pipes = 256;
/// Writes of up to so many bytes go in whole or not at all (PIPE_BUF).
inline constexpr std::size_t pipe_atomic = 4096;

/// The two ends of a pipe. Bytes come out in the order they went in and none is lost: when the last writer
/// goes, readers still get what is there and then the end; when the last reader goes, writes are EPIPE.
struct PipeEnds {
  std::shared_ptr<Description> reader;
  std::shared_ptr<Description> writer;
};

/// `counters` may be null. The ring takes no memory before the first byte and gives it back when it is empty.
PipeEnds make_pipe(std::shared_ptr<Counters> counters);

/// The two ends of a stream socket pair: two pipes, crossed. Each end has Kind::duplex and reads what the
/// other wrote.
struct DuplexEnds {
  std::shared_ptr<Description> first;
  std::shared_ptr<Description> second;
};
DuplexEnds make_duplex(std::shared_ptr<Counters> counters);

/// shutdown(SHUT_WR): the other end reads what was written and then the end. ENOTSOCK unless it is a duplex.
Result<void> shutdown_write(Description& end);

}  // namespace tare::kernel
