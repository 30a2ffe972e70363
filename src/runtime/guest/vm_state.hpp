#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "runtime/guest/connection.hpp"
#include "runtime/guest/vm.hpp"

namespace tare::guest {

struct Vm::State {
  std::shared_ptr<Connection> connection;
  std::uint32_t id = 0;
  std::vector<std::filesystem::path> cache_roots;
  std::atomic<bool> disposed = false;
};

}  // namespace tare::guest
