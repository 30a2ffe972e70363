#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <boost/describe.hpp>

namespace tare::guest_driver {

/// The parameters of a row, some needed by some rows only.
struct Params {
  std::optional<std::uint32_t> timeout_ms;
  std::optional<std::uint32_t> fanout;
  std::optional<std::uint32_t> guests;
  std::optional<std::uint32_t> processes;
  std::optional<std::uint32_t> warmup;
  std::optional<std::string> nonce;
  std::optional<std::uint64_t> bytes;
  std::optional<std::string> input;
};
BOOST_DESCRIBE_STRUCT(Params, (), (timeout_ms, fanout, guests, processes, warmup, nonce, bytes, input))

/// One measured operation, as the protocol has it.
struct Sample {
  std::string outcome = "ok";
  std::optional<std::string> error;  ///< when it is not ok
  std::map<std::string, std::int64_t> ns;
  std::map<std::string, std::optional<std::uint64_t>> bytes;
  std::map<std::string, std::int64_t> counters;
  std::optional<std::string> output;

  void fail(std::string how, std::string why) {
    outcome = std::move(how);
    error = std::move(why);
  }
};
BOOST_DESCRIBE_STRUCT(Sample, (), (outcome, error, ns, bytes, counters, output))

}  // namespace tare::guest_driver
