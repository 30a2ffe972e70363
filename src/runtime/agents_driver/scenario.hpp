#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

/// The scenarios of the agents bench on the built-in registry, for `tare agents driver`.
namespace tare::agents_driver {

/// The parameters of a row, some needed by some rows only.
struct Params {
  std::optional<std::uint32_t> size;
  std::optional<std::uint32_t> timeout_ms;
  std::optional<std::string> nonce;
  std::optional<std::string> dir;
  std::optional<std::uint32_t> duration_ms;
  std::optional<std::string> phase;
  std::optional<std::string> acks;
};
BOOST_DESCRIBE_STRUCT(Params, (), (size, timeout_ms, nonce, dir, duration_ms, phase, acks))

/// One measured operation, as the protocol has it.
struct Sample {
  std::string outcome = "ok";
  std::optional<std::string> error;  ///< when it is not ok
  std::map<std::string, std::uint64_t> ns;
  std::map<std::string, std::optional<std::uint64_t>> bytes;
  std::map<std::string, std::int64_t> counters;
  std::optional<std::string> output;
};
BOOST_DESCRIBE_STRUCT(Sample, (), (outcome, error, ns, bytes, counters, output))

/// What one request needs to know.
struct Task {
  std::uint32_t size = 1;
  std::chrono::milliseconds budget{0};  ///< of each sample
  std::string nonce;
  std::filesystem::path dir;
  std::chrono::milliseconds duration{1000};
  std::string phase;
  std::filesystem::path acks;

  std::filesystem::path database() const { return dir / "registry.sqlite"; }
};

/// "<scenario>_<n>" of every scenario, for hello.
std::vector<std::string> row_names();

/// A scenario that takes samples of one size. What lasts from sample to sample belongs to it.
class Scenario {
 public:
  Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;
  virtual ~Scenario() = default;
  /// Throws Error when it can't be carried out, and Late when the budget is used up before its end. Times and
  /// counts only; memory is seen from outside.
  virtual Sample sample() = 0;
};

/// Nothing for a row that there is not. Throws serve::Refusal(invalid) for parameters that are missing or
/// make no sense, and Error for a folder that is not there or holds something.
std::unique_ptr<Scenario> make_scenario(std::string_view row, const Params& params);

}  // namespace tare::agents_driver
