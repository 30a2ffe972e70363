#pragma once

#include <functional>

#include <boost/describe.hpp>

#include "runtime/agents/admission.hpp"
#include "runtime/agents/registry.hpp"

namespace tare::agents {

/// How far a spawn has come.
enum class SpawnPhase : std::uint8_t { admission, initialize, dispatch, registration };
BOOST_DESCRIBE_ENUM(SpawnPhase, admission, initialize, dispatch, registration)

/// What really starts a child: a gateway's turn, a guest process, one that does nothing in a benchmark.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Makes the child's session.
  virtual Task<void> initialize(const NewRun& run) = 0;
  /// Hands it its task.
  virtual Task<void> dispatch(const NewRun& run) = 0;
  /// Undoes what was done, after `failed_in` failed. What it throws is dropped: the first failure counts.
  virtual Task<void> clean_up(const NewRun& run, SpawnPhase failed_in) = 0;
};

/// A spawn that a limit refused.
struct Refused : std::exception {
  explicit Refused(Refusal why) : refusal(std::move(why)), text(refusal.text()) {}
  const char* what() const noexcept override { return text.c_str(); }
  Refusal refusal;
  std::string text;
};

using Decide = std::function<std::optional<Refusal>(const Pending&)>;
using Started = std::function<void(RunId)>;

/// Starts one child: a slot, initialize, dispatch, register, and the slot is free again, as the run counts
/// by itself from then on. If a step fails, the backend cleans up, the slot is freed, and the step's
/// exception goes on to the caller. Throws Refused when `decide` says no.
///
/// `started` is told at the end; what it throws is dropped. Registry, admission and backend must outlive the
/// task.
Task<RunId> spawn(Registry& registry, Admission& admission, Backend& backend, NewRun run, Decide decide,
                  Started started = {});

}  // namespace tare::agents
