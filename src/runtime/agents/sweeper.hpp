#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <vector>

#include "runtime/agents/registry.hpp"

namespace tare::agents {

/// What a sweep does beyond the registry, each at most once: it is written down that it was done before it
/// is, so that a crash in between leaves it undone rather than done twice. None of it is called for a session
/// whose effects are suppressed. What one throws comes out of the sweep when all others are done.
class SweepEffects {
 public:
  SweepEffects() = default;
  SweepEffects(const SweepEffects&) = delete;
  SweepEffects& operator=(const SweepEffects&) = delete;
  virtual ~SweepEffects() = default;

  /// Somebody has to take an interrupted run up again, or give it up. Once for each run, ever: the registry
  /// has written down that it was said before it is.
  virtual void project_recovery(const RunView& run) = 0;
  /// The last run of a session whose cleanup is `remove` is gone.
  virtual void end_session(std::string_view child) = 0;
  /// Whether a run that is not settled has lost whoever worked at it.
  virtual bool is_lost(const RunView& run) = 0;
};

struct SweepReport {
  std::uint64_t seen = 0;                      ///< rows
  std::uint64_t removed = 0;                   ///< archived runs that were retired
  std::uint64_t recovery_projections = 0;      ///< interrupted runs that were projected
  std::uint64_t lost_context_completions = 0;  ///< orphans that were settled as lost
  std::uint64_t session_effects = 0;           ///< sessions that were ended
};

struct SweeperOptions {
  std::chrono::milliseconds orphan_grace = std::chrono::minutes(5);  ///< from the start of a run
};

/// Looks at every run once and does what is due, in this order: retires archived runs whose cleanup is
/// `remove`, projects interrupted ones, settles orphans past their grace. Sessions whose effects are
/// suppressed are left alone.
class Sweeper {
 public:
  /// Both must outlive it and its coroutines.
  Sweeper(Registry& registry, SweepEffects& effects, SweeperOptions options = {});

  /// A sweep. A call while one goes on waits for that one and returns its report. Throws what the store
  /// throws; the next sweep then does what was not done.
  Task<SweepReport> sweep();

 private:
  struct Due {
    std::vector<Place> retire, recover, complete;
  };

  Task<SweepReport> run();
  Task<Due> look(SweepReport& report);
  enum class Kind { nothing, retire, recover, complete };
  /// What is due for a run now.
  Kind kind_of(Slot slot, WallTime now) const;
  /// Those for which it still is.
  std::vector<Place> still(Kind kind, std::vector<Place> runs) const;
  template <class Effect>
  void perform(Effect effect);
  Task<void> retire(std::vector<Place> runs, SweepReport& report);
  Task<void> recover(std::vector<Place> runs, SweepReport& report);
  Task<void> complete(std::vector<Place> runs, SweepReport& report);

  Registry& registry_;
  SweepEffects& effects_;
  SweeperOptions options_;
  bool sweeping_ = false;
  std::vector<Place> unsaid_;  ///< marked as projected, when something came in between
  std::exception_ptr failed_effect_;
  std::vector<Resumer<SweepReport>> waiting_;  ///< for the sweep that goes on
};

}  // namespace tare::agents
