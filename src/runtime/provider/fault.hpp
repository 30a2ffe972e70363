#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <boost/describe.hpp>

/// Faults that the mock server makes on request.
namespace tare::provider {

enum class FaultKind : std::uint8_t {
  status,    ///< an HTTP status instead of a reply
  stall,     ///< the reply stops coming, its connection stays open
  cut,       ///< the connection is closed in the middle; after=0: before the first byte of an answer
  shorten,   ///< the answer ends in order, before the reply is whole
  garbage,   ///< an event that is not JSON, then on as if nothing were
  bad_utf8,  ///< an event whose text is not UTF-8
  split,     ///< no fault, but hard: every character beyond ASCII, of which each chunk has two, comes in two
             ///< pieces
  slow,      ///< the first byte comes late
  error,     ///< the server reports an error in the middle of the reply
  html,      ///< a page instead of a reply, with status 200
};
BOOST_DESCRIBE_ENUM(FaultKind, status, stall, cut, shorten, garbage, bad_utf8, split, slow, error, html)

struct Fault {
  FaultKind kind = FaultKind::stall;
  int status = 0;                                             ///< of kind status: 400 to 599
  std::optional<std::chrono::milliseconds> retry_after = {};  ///< of kind status
  unsigned after = 1;                      ///< chunks of text that come before it, of the kinds in the middle
  std::chrono::milliseconds delay{1'000};  ///< of kind slow
  std::optional<unsigned> times = {};      ///< how often it comes; absent: always
  unsigned every = 1;                      ///< only every so manyth time
  friend bool operator==(const Fault&, const Fault&) = default;
};

/// "stall", "429,retry-after=0.5", "cut,after=3,times=1", "500,every=10", "slow,delay=250": retry-after in
/// seconds, delay in milliseconds. Throws Error(input) that begins with `what`.
Fault parse_fault(std::string_view text, std::string_view what);

/// "stall", "429": what the request log says.
std::string name_of(const Fault& fault);

/// Counts how often each fault was asked for, so that `times` and `every` can be kept.
class FaultCounter {
 public:
  /// Whether this request has it. `key` tells one series of requests from another: an attempt that is made
  /// again has the key of the first.
  bool strikes(const Fault& fault, const std::string& key);

 private:
  std::map<std::string, unsigned> seen_;
};

}  // namespace tare::provider
