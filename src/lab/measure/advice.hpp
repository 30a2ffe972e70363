#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/describe.hpp>

#include "lab/measure/host.hpp"
#include "lab/measure/noise.hpp"

namespace tare::measure {

BOOST_DEFINE_ENUM_CLASS(AdviceLevel, ok, note, warn)

/// One fact of the machine for a person: what it is, whether it matters, what to do.
struct Advice {
  std::string fact;
  std::string value;  ///< "unavailable" when the machine does not have it
  AdviceLevel level = AdviceLevel::ok;
  std::string meaning;  ///< for figures; one sentence without a full stop
  std::string advice;   ///< empty when nothing is to be done
};
BOOST_DESCRIBE_STRUCT(Advice, (), (fact, value, level, meaning, advice))

/// One line a fact, in a fixed order; with a line of its own for the noise when there is a judgement.
std::vector<Advice> explain(const HostFacts& host, const std::optional<Noise>& noise = std::nullopt);

/// What would help most: the warning whose cause disturbs figures most, or nothing when none is warned of.
std::optional<Advice> most_helpful(std::span<const Advice> advice);

}  // namespace tare::measure
