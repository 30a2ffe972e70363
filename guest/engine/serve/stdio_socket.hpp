#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/fd.hpp"
#include "engine/kernel/description.hpp"
#include "protocol/frame.hpp"

namespace tare::engine {

/// The three standard streams of an execution over its one socket: stdin as it comes, stdout and stderr in
/// frames. The socket is closed when the last process that has one of them is gone, and hung up (hang_up() of
/// any of them) when the first process of the execution is.
struct StdioStreams {
  std::shared_ptr<kernel::Description> input;
  std::shared_ptr<kernel::Description> output;
  std::shared_ptr<kernel::Description> error;
};

/// `output_limit`: bytes to stdout and stderr together; who writes beyond it is killed by `on_limit`.
StdioStreams make_stdio(Fd socket, std::optional<std::uint64_t> output_limit, std::function<void()> on_limit);

}  // namespace tare::engine
