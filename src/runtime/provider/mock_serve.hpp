#pragma once

#include <functional>

#include "runtime/provider/mock_server.hpp"

namespace tare::provider {

/// Runs a mock server until SIGINT or SIGTERM. `listening` is told the port once requests are taken. Throws
/// as MockServer does, and what ended the request log.
void serve_mock(const MockOptions& options, const std::function<void(std::uint16_t)>& listening);

}  // namespace tare::provider
