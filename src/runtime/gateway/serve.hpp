#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "runtime/gateway/config.hpp"

namespace tare::gateway {

/// Runs a gateway until SIGINT, SIGTERM, SIGHUP or SIGQUIT, then lets it end in order; a second signal ends
/// it at once. `ready` is told the port once clients are served, `log` gets lines of JSON. Throws as Gateway
/// does.
void serve(Config config, const std::function<void(std::uint16_t)>& ready,
           const std::function<void(std::string_view)>& log);

}  // namespace tare::gateway
