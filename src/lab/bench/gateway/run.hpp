#pragma once

#include <functional>
#include <string>

#include "lab/bench/common/life.hpp"
#include "lab/bench/gateway/options.hpp"

/// The bench `gateway`: does a gateway stay responsive while agents stream? Each run has a gateway and a
/// model server of its own; the runs of several gateways take turns.
namespace tare::gateway_bench {

struct Request : bench::Order {
  Options options;
  std::optional<std::string> token;         ///< of the target url; in no document
  std::optional<std::string> provider_key;  ///< of --provider-url; in no document
  /// Takes lines for a person.
  std::function<void(const std::string&)> say;
};

/// Measures. A run that fails is in the document as a failed row, and what was to come after it is not begun.
/// Throws Error when nothing can be measured: a gateway that is not installed, a load that does not fit this
/// machine.
bench::Result run(const Request& request, bench::Surroundings surroundings);

}  // namespace tare::gateway_bench
