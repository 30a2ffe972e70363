#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/describe.hpp>

#include "base/clock.hpp"
#include "lab/driver/driver.hpp"
#include "lab/driver/workload.hpp"

/// The conformance test of a driver: `tare driver check -- CMD…`.
namespace tare::driver {

BOOST_DEFINE_ENUM_CLASS(CheckStatus, pass, fail, skip)

struct CheckResult {
  std::string id;  ///< "unknown_op", "row fanout_8"
  CheckStatus status = CheckStatus::pass;
  std::string text;  ///< one line: what was seen, what the rule is, or why it was skipped
};
BOOST_DESCRIBE_STRUCT(CheckResult, (), (id, status, text))

struct CheckOptions {
  /// Budget of each operation. Rows get a warm-up sample first.
  Nanoseconds timeout = std::chrono::seconds(30);
  /// The n of a driver that offers "fanout_<n>", "memory_<n>" or "growth_<n>".
  Sizes sizes = {.fanouts = {1, 8}, .guests = {1, 4}, .processes = {20}};
  std::int64_t agents_size = 8;  ///< the n of one that offers <scenario>_<n>
  std::uint64_t seed = 1;        ///< of the nonces
  DriverOptions driver;          ///< a roster is made if it has none
};

/// Starts the driver several times and goes through the rules of docs/driver-protocol.md, from simple to
/// hard. Gives every result to `on_result` as it comes, and returns them all. Leaves no process behind.
/// Throws DriverFailure(interrupted) when told to stop, nothing for what the driver does.
std::vector<CheckResult> check_driver(const DriverCommand& command, const CheckOptions& options,
                                      const std::function<void(const CheckResult&)>& on_result = {});

/// Whether no check failed.
bool conforms(const std::vector<CheckResult>& results);

}  // namespace tare::driver
