#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "lab/driver/failure.hpp"

/// The messages of the driver protocol, and the rules that one line alone can break. Pure functions;
/// docs/driver-protocol.md is the contract.
namespace tare::driver {

inline constexpr std::string_view protocol_name = "tare.driver.v1";
inline constexpr std::size_t line_limit = std::size_t{16} << 20;

/// What a driver says of itself.
struct Hello {
  std::string protocol;
  std::string name;
  std::string version;
  std::string engine;
  std::int64_t pid = 0;
  std::vector<std::string> rows;  ///< "NAME_<n>", literally, stands for every n
  std::optional<std::map<std::string, std::string>> unavailable;  ///< row to reason
  std::optional<bool> asynchronous_spawn;
  std::optional<std::uint64_t> rss_floor_bytes;
  std::optional<bool> stages;  ///< it answers the op `stages`; only asked of a traced driver

  bool offers(std::string_view row) const;
  /// Why a row that is not offered is not: the driver's own reason if it gave one.
  std::string why_not(std::string_view row) const;
};
BOOST_DESCRIBE_STRUCT(Hello, (),
                      (protocol, name, version, engine, pid, rows, unavailable, asynchronous_spawn,
                       rss_floor_bytes, stages))

BOOST_DEFINE_ENUM_CLASS(Outcome, ok, failed, timeout, refused)

/// Of the processes that one sample started.
struct Resources {
  std::optional<std::int64_t> cpu_user_us;
  std::optional<std::int64_t> cpu_system_us;
  std::optional<std::uint64_t> max_rss_bytes;
};
BOOST_DESCRIBE_STRUCT(Resources, (), (cpu_user_us, cpu_system_us, max_rss_bytes))

/// How one process of a traced sample came and went, as its runtime's client saw it.
struct Lifecycle {
  std::string route;                             ///< how its end became known
  std::string first_waiter;                      ///< who waited for it first
  std::map<std::string, std::uint64_t> waiters;  ///< how often who waited
  std::map<std::string, double> ns;              ///< sub-phase to nanoseconds
};
BOOST_DESCRIBE_STRUCT(Lifecycle, (), (route, first_waiter, waiters, ns))

/// One measured operation.
struct Sample {
  Outcome outcome = Outcome::ok;
  std::map<std::string, double> ns;  ///< metric to nanoseconds, finite and not negative; has `total` when ok
  std::map<std::string, std::optional<double>> bytes;  ///< metric to size, of the rows that measure memory
  std::optional<std::string> error;                    ///< set when the outcome is not ok
  std::map<std::string, std::optional<std::int64_t>> counters;
  std::optional<std::string> output;
  std::optional<Resources> resources;
  std::vector<Lifecycle> lifecycle;  ///< one a process, in a traced run of a driver that has them

  std::optional<double> metric(std::string_view name) const;
  std::optional<std::int64_t> counter(std::string_view name) const;
};

struct SampleRequest {
  std::string row;
  json::Object params;                             ///< without timeoutMs
  std::int64_t iterations = 1;                     ///< at least 1
  Nanoseconds timeout = std::chrono::seconds(30);  ///< of each iteration; at least 1 ms
  std::vector<std::string> metrics = {"total"};    ///< that an ok sample must have
  std::vector<std::string> sizes;                  ///< the same in `bytes`, where null is allowed
  /// How long the whole answer is waited for; default: all iterations' timeouts and the driver's grace.
  std::optional<Nanoseconds> deadline = {};
};

/// What a runtime counted of one of its stages since it was started.
struct StageCount {
  std::uint64_t calls = 0;
  double total_us = 0;
  double max_us = 0;
};
BOOST_DESCRIBE_STRUCT(StageCount, (), (calls, total_us, max_us))

struct Stages {
  std::map<std::string, StageCount> stages;
  std::optional<std::map<std::string, std::string>> absent;  ///< what it does not count, and why
};
BOOST_DESCRIBE_STRUCT(Stages, (), (stages, absent))

/// Requests, each one line without its newline.
std::string hello_request(std::int64_t id);
std::string sample_request(std::int64_t id, const SampleRequest& request);
std::string stages_request(std::int64_t id);
std::string bye_request(std::int64_t id);

struct ErrorReply {
  std::string code;
  std::string message;
};
BOOST_DESCRIBE_STRUCT(ErrorReply, (), (code, message))

struct Reply {
  std::optional<std::int64_t> id;  ///< null in an answer to a line that had none
  bool ok = false;
  std::optional<ErrorReply> error;  ///< set when not ok
  json::Value body;
};

/// Throws Violation(garbage) unless the line is a JSON object with id, ok, and an error when not ok.
Reply parse_reply(std::string_view line);

/// Throws Violation(bad_hello or protocol_mismatch).
Hello parse_hello(const Reply& reply);

/// Throws Violation(invalid_sample) unless there are as many samples as asked for, each with an outcome,
/// and the ok ones with every metric asked for, finite, not negative, and no longer than `elapsed`, the time
/// that the whole request took.
std::vector<Sample> parse_samples(const Reply& reply, const SampleRequest& request, Nanoseconds elapsed);

/// Throws Violation(invalid_sample) for a figure that is negative or no number.
Stages parse_stages(const Reply& reply);

/// The error of a reply that is not ok. A code that this version does not know is `failed`.
Violation error_of(const Reply& reply);

}  // namespace tare::driver
