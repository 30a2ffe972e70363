#include "runtime/agents/sweeper.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "runtime/agents/world_for_tests.hpp"

namespace tare::agents {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NotedEffects final : public SweepEffects {
 public:
  void project_recovery(const RunView& run) override { note("recover " + std::string(run.child)); }
  void end_session(std::string_view child) override { note("end " + std::string(child)); }
  bool is_lost(const RunView& run) override { return run.child == "lost"; }
  std::vector<std::string> notes;
  std::string fails;  ///< the note that throws

 private:
  void note(std::string text) {
    notes.push_back(text);
    if (text == fails) throw std::runtime_error(text);
  }
};

/// With these rows in its store: archived a1 (older generation), interrupted a2, archived b1 (the only one).
class SweeperTest : public AgentsTest {
 protected:
  SweeperTest() {
    store.kept = {row(1, "a", 1, Status::terminal), row(2, "a", 2, Status::running),
                  row(3, "b", 1, Status::terminal)};
  }

  agents::Run row(RunId id, const char* name, std::uint32_t generation, Status status) {
    agents::Run run;
    static_cast<NewRun&>(run) = child(name, Cleanup::remove);
    run.id = id;
    run.generation = generation;
    run.created = clock.wall();
    run.status = status;
    if (status == Status::terminal) {
      run.settlement = Settlement{Outcome::ok, clock.wall(), {}};
      run.archive_at = clock.wall();
    }
    return run;
  }

  SweepReport sweep() {
    std::optional<SweepReport> report;
    std::exception_ptr failure;
    loop.start(sweeper.sweep(), [&](const std::exception_ptr& why, SweepReport result) {
      failure = why;
      report = result;
    });
    while (!report) {
      run();
      store.succeed();
      run();
    }
    if (failure) std::rethrow_exception(failure);
    return *report;
  }

  HeldStore store{loop};
  Registry registry{loop, store, clock};
  NotedEffects effects;
  Sweeper sweeper{registry, effects};
};

TEST_F(SweeperTest, retires_then_projects_and_ends_only_sessions_without_runs) {
  registry.restore();
  const SweepReport report = sweep();
  EXPECT_THAT(effects.notes, ElementsAre("end b", "recover a"));
  EXPECT_EQ(report.seen, 3u);
  EXPECT_EQ(report.removed, 2u);
  EXPECT_EQ(report.recovery_projections, 1u);
  EXPECT_EQ(report.session_effects, 1u);
  EXPECT_EQ(registry.size(), 1u);
}

TEST_F(SweeperTest, projects_an_interruption_once_for_ever) {
  registry.restore();
  sweep();
  effects.notes.clear();
  EXPECT_EQ(sweep().recovery_projections, 0u);
  EXPECT_THAT(effects.notes, IsEmpty());
  bool written = false;
  for (const auto& changes : store.written) {
    for (const Change& change : changes) {
      const auto* recover = std::get_if<Recover>(&change);
      written = written || (recover != nullptr && recover->id == 2);
    }
  }
  EXPECT_TRUE(written);
}

TEST_F(SweeperTest, retires_nothing_before_its_time_and_nothing_that_is_kept) {
  store.kept = {row(1, "a", 1, Status::terminal), row(2, "b", 1, Status::terminal)};
  store.kept[0].archive_at = clock.wall() + std::chrono::milliseconds(1);
  store.kept[1].cleanup = Cleanup::keep;
  registry.restore();
  EXPECT_EQ(sweep().removed, 0u);
  clock.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(sweep().removed, 1u);
  EXPECT_EQ(registry.size(), 1u);
}

TEST_F(SweeperTest, settles_orphans_only_after_their_grace) {
  store.kept = {};
  RunId lost = 0;
  loop.start(registry.add(child("lost")), [&](const std::exception_ptr&, RunId id) { lost = id; });
  loop.start(registry.add(child("worked at")), [](const std::exception_ptr&, RunId) {});
  store.succeed();
  run();
  EXPECT_EQ(sweep().lost_context_completions, 0u);
  clock.advance(std::chrono::minutes(5));
  EXPECT_EQ(sweep().lost_context_completions, 1u);
  EXPECT_EQ(registry.find(lost)->outcome, Outcome::lost);
  EXPECT_EQ(registry.open_tasks(), 1u);
}

TEST_F(SweeperTest, never_touches_a_session_whose_effects_are_suppressed) {
  registry.restore();
  registry.suppress("a");
  registry.suppress("b");
  registry.suppress("b");
  registry.unsuppress("b");
  EXPECT_EQ(sweep().removed, 0u);
  EXPECT_THAT(effects.notes, IsEmpty());
  registry.unsuppress("b");
  EXPECT_EQ(sweep().removed, 1u);
  EXPECT_THAT(effects.notes, ElementsAre("end b"));
}

TEST_F(SweeperTest, a_call_while_one_goes_on_shares_its_report) {
  registry.restore();
  std::vector<std::uint64_t> removed;
  const auto note = [&](const std::exception_ptr&, const SweepReport& report) {
    removed.push_back(report.removed);
  };
  loop.start(sweeper.sweep(), note);
  loop.start(sweeper.sweep(), note);
  for (int i = 0; i < 3; ++i) {
    run();
    store.succeed();
  }
  run();
  EXPECT_THAT(removed, ElementsAre(2u, 2u));
  EXPECT_THAT(effects.notes, ElementsAre("end b", "recover a"));
}

TEST_F(SweeperTest, an_effect_that_fails_keeps_no_other_from_being_done) {
  registry.restore();
  effects.fails = "end b";
  EXPECT_THROW(sweep(), std::runtime_error);
  EXPECT_THAT(effects.notes, ElementsAre("end b", "recover a"));
  EXPECT_EQ(registry.size(), 1u);
}

TEST_F(SweeperTest, what_happens_while_it_looks_at_many_rows_is_seen) {
  store.kept.clear();
  for (RunId id = 1; id <= 10'000; ++id) {
    const std::string name = "c" + std::to_string(id);
    store.kept.push_back(row(id, name.c_str(), 1, Status::terminal));
  }
  registry.restore();
  std::uint64_t removed = 0;
  loop.start(sweeper.sweep(),
             [&](const std::exception_ptr&, const SweepReport& report) { removed = report.removed; });
  registry.suppress("c1");  // it has been looked at, and the others have a turn now
  run();
  store.succeed();
  run();
  EXPECT_EQ(removed, 9'999u);
  EXPECT_TRUE(registry.find(1));
}

TEST_F(SweeperTest, what_happens_while_the_disk_writes_is_seen) {
  store.kept = {row(2, "a", 2, Status::running), row(4, "c", 1, Status::running),
                row(5, "d", 1, Status::running)};
  registry.restore();
  loop.start(sweeper.sweep(), [](const std::exception_ptr&, const SweepReport&) {});
  run();
  registry.suppress("c");
  loop.start(registry.settle(2, Outcome::cancelled), [](const std::exception_ptr&, bool) {});
  for (int i = 0; i < 2; ++i) {
    store.succeed();
    run();
  }
  // The settled one needs nobody, and the suppressed one waits.
  EXPECT_THAT(effects.notes, ElementsAre("recover d"));
  registry.unsuppress("c");
  sweep();
  EXPECT_THAT(effects.notes, ElementsAre("recover d", "recover c"));
}

TEST_F(SweeperTest, what_a_store_did_not_take_is_due_again) {
  registry.restore();
  std::exception_ptr seen;
  loop.start(sweeper.sweep(), [&](const std::exception_ptr& failure, const SweepReport&) { seen = failure; });
  store.fail(std::make_exception_ptr(Error(ErrorCode::failed, "disk full")));
  run();
  EXPECT_THROW(std::rethrow_exception(seen), Error);
  EXPECT_EQ(registry.size(), 3u);
  EXPECT_EQ(sweep().removed, 2u);
}

}  // namespace
}  // namespace tare::agents
