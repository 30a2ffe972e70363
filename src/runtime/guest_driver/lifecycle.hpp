#pragma once

#include "runtime/guest/engine.hpp"
#include "runtime/guest_driver/sample.hpp"

/// The rows in which every sample has an engine of its own.
namespace tare::guest_driver {

/// Engine and machine from nothing, the first and the second guest, and their end.
Sample cold_start(const guest::EngineOptions& options, Instant deadline);

/// What the engine's process holds at five moments, with so many guests that stay.
Sample memory(const guest::EngineOptions& options, std::uint32_t guests, Instant deadline);

/// What it holds before and after so many guests, one after another. The first ones of all are not counted:
/// an engine makes things once.
Sample growth(const guest::EngineOptions& options, std::uint32_t warmup, std::uint32_t processes,
              Instant deadline);

}  // namespace tare::guest_driver
