#include "runtime/agents/pipeline.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "runtime/agents/world_for_tests.hpp"

namespace tare::agents {
namespace {

using testing::ElementsAre;

/// Notes what is asked of it, and fails where a test wants it to.
class NotingBackend final : public Backend {
 public:
  explicit NotingBackend(Loop& loop) : loop_(loop) {}
  Task<void> initialize(const NewRun&) override { return step("initialize"); }
  Task<void> dispatch(const NewRun&) override { return step("dispatch"); }
  Task<void> clean_up(const NewRun&, SpawnPhase phase) override {
    return step(std::string("clean up after ") + boost::describe::enum_to_string(phase, "?"));
  }
  std::vector<std::string> steps;
  std::string fails_in;

 private:
  Task<void> step(std::string name) {
    co_await loop_.turn();
    steps.push_back(name);
    if (name.starts_with(fails_in) && !fails_in.empty()) throw std::runtime_error(name);
  }
  Loop& loop_;
};

class PipelineTest : public AgentsTest {
 protected:
  MemoryStore store;
  Registry registry{loop, store, clock};
  Admission admission;
  NotingBackend backend{loop};
  Decide always = [](const Pending&) { return std::optional<Refusal>(); };
};

TEST_F(PipelineTest, goes_through_its_phases_and_frees_the_slot) {
  std::optional<RunId> started;
  const RunId id =
      finish(spawn(registry, admission, backend, child("c"), always, [&](RunId run) { started = run; }));
  EXPECT_THAT(backend.steps, ElementsAre("initialize", "dispatch"));
  EXPECT_EQ(registry.find(id)->child, "c");
  EXPECT_EQ(started, id);
  EXPECT_EQ(admission.pending(), 0u);
}

TEST_F(PipelineTest, holds_the_slot_until_the_run_is_registered) {
  std::uint64_t during = 0;
  const Decide watch = [&](const Pending& pending) {
    during = std::max(during, pending.controller);
    return std::optional<Refusal>();
  };
  for (const char* name : {"a", "b", "c"})
    loop.start(spawn(registry, admission, backend, child(name), watch),
               [](const std::exception_ptr&, RunId) {});
  run();
  EXPECT_EQ(during, 2u);
  EXPECT_EQ(registry.size(), 3u);
}

TEST_F(PipelineTest, a_refusal_touches_nothing) {
  const Decide never = [](const Pending&) { return std::optional(Refusal{"maxSpawnDepth", 5, 5}); };
  try {
    finish(spawn(registry, admission, backend, child("c"), never));
    FAIL();
  } catch (const Refused& refused) {
    EXPECT_STREQ(refused.what(), "maxSpawnDepth is 5, and 5 are there");
  }
  EXPECT_TRUE(backend.steps.empty());
  EXPECT_EQ(registry.size(), 0u);
}

TEST_F(PipelineTest, cleans_up_after_the_phase_that_failed_and_frees_the_slot) {
  for (const auto& [phase, last] : {std::pair{"initialize", "clean up after initialize"},
                                    std::pair{"dispatch", "clean up after dispatch"}}) {
    backend.steps.clear();
    backend.fails_in = phase;
    EXPECT_THROW(finish(spawn(registry, admission, backend, child("c"), always)), std::runtime_error);
    EXPECT_EQ(backend.steps.back(), last);
    EXPECT_EQ(admission.pending(), 0u);
    EXPECT_EQ(registry.size(), 0u);
  }
}

TEST_F(PipelineTest, the_first_failure_counts_when_the_clean_up_fails_too) {
  class Broken final : public Backend {
   public:
    Task<void> initialize(const NewRun&) override { co_return; }
    Task<void> dispatch(const NewRun&) override {
      throw std::runtime_error("first");
      co_return;
    }
    Task<void> clean_up(const NewRun&, SpawnPhase) override {
      throw std::runtime_error("second");
      co_return;
    }
  } broken;
  try {
    finish(spawn(registry, admission, broken, child("c"), always));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
}

TEST_F(PipelineTest, a_child_that_is_being_registered_counts_once_against_the_caps) {
  HeldStore held(loop);
  Registry durable(loop, held, clock);
  const Decide usual = [&](const Pending& pending) {
    return decide({}, Load{0, durable.active(By::controller, "main"), 0, 0}, pending);
  };
  int refused = 0;
  const auto start = [&](const std::string& name) {
    loop.start(spawn(durable, admission, backend, child(name), usual),
               [&](const std::exception_ptr& failure, RunId) { refused += failure ? 1 : 0; });
    run();
  };
  for (const char* name : {"a", "b", "c", "d", "e"}) start(name);
  EXPECT_EQ(refused, 0);
  start("f");
  EXPECT_EQ(refused, 1);
  held.succeed();
  run();
  EXPECT_EQ(durable.active(By::controller, "main"), 5u);
  start("g");
  EXPECT_EQ(refused, 2);
}

TEST_F(PipelineTest, a_store_that_fails_is_cleaned_up_after_registration) {
  HeldStore held(loop);
  Registry durable(loop, held, clock);
  std::exception_ptr seen;
  loop.start(spawn(durable, admission, backend, child("c"), always),
             [&](const std::exception_ptr& failure, RunId) { seen = failure; });
  run();
  EXPECT_EQ(admission.pending(), 1u);
  held.fail(std::make_exception_ptr(Error(ErrorCode::failed, "disk full")));
  run();
  EXPECT_THROW(std::rethrow_exception(seen), Error);
  EXPECT_EQ(backend.steps.back(), "clean up after registration");
  EXPECT_EQ(admission.pending(), 0u);
}

TEST_F(PipelineTest, a_report_of_progress_that_throws_undoes_nothing) {
  const RunId id = finish(
      spawn(registry, admission, backend, child("c"), always, [](RunId) { throw std::runtime_error("no"); }));
  EXPECT_TRUE(registry.find(id));
}

}  // namespace
}  // namespace tare::agents
