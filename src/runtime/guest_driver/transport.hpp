#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/guest/engine.hpp"
#include "runtime/guest_driver/sample.hpp"

namespace tare::guest_driver {

/// Lines that a guest has to send back.
struct RoundTrip {
  std::string nonce;
  std::uint64_t bytes = 0;  ///< of a line without its newline; its header is never cut
  std::chrono::milliseconds limit{};
};

/// The k-th line with its newline: "transport:<nonce>-<k>:xxx\n".
std::string transport_line(const RoundTrip& trip, std::uint32_t k);

/// So many lines go in, one at a time, and each is waited for; then the guest's input ends, and it has to
/// leave. All samples have the code or the signal of that. After one that is late, or a guest that leaves
/// early, the others fail.
std::vector<Sample> round_trips(guest::Execution& guest, const RoundTrip& trip, std::uint32_t count);

}  // namespace tare::guest_driver
