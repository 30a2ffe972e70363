#include "runtime/agents/run.hpp"

#include <fmt/format.h>

namespace tare::agents {

std::string text_of(RunId id) {
  return fmt::format("run-{:016x}", static_cast<std::uint64_t>(id));
}

}  // namespace tare::agents
