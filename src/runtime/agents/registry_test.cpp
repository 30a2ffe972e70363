#include "runtime/agents/registry.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "runtime/agents/world_for_tests.hpp"

namespace tare::agents {
namespace {

using testing::ElementsAre;

class RegistryTest : public AgentsTest {
 protected:
  MemoryStore store;
  Registry registry{loop, store, clock};

  RunId add(const std::string& name, Cleanup cleanup = Cleanup::keep) {
    return finish(registry.add(child(name, cleanup)));
  }
};

TEST_F(RegistryTest, a_run_is_found_by_its_id_and_by_each_of_its_names) {
  NewRun wanted = child("c");
  wanted.requester = "r";
  wanted.controller = "k";
  wanted.group = "g";
  const RunId id = finish(registry.add(wanted));
  const RunView run = registry.find(id).value();
  EXPECT_EQ(run.child, "c");
  EXPECT_EQ(run.label, "label");
  EXPECT_EQ(run.task, "task");
  EXPECT_EQ(run.payload, R"({"a":1})");
  EXPECT_EQ(run.status, Status::running);
  for (const auto& [role, name] : {std::pair{By::child, "c"}, std::pair{By::requester, "r"},
                                   std::pair{By::controller, "k"}, std::pair{By::group, "g"}}) {
    ASSERT_EQ(registry.runs(role, name).size(), 1u);
    EXPECT_EQ(registry.runs(role, name).front().id, id);
    EXPECT_EQ(registry.count(role, "nobody"), 0u);
  }
}

TEST_F(RegistryTest, ids_rise_and_generations_count_per_child_session) {
  const RunId a = add("x");
  const RunId b = add("x");
  const RunId c = add("y");
  EXPECT_LT(a, b);
  EXPECT_LT(b, c);
  EXPECT_EQ(registry.find(a)->generation, 1u);
  EXPECT_EQ(registry.find(b)->generation, 2u);
  EXPECT_EQ(registry.find(c)->generation, 1u);
}

TEST_F(RegistryTest, a_clock_that_goes_back_gives_no_id_twice) {
  ManualClock late;
  late.advance(std::chrono::hours(1));
  Registry other(loop, store, late);
  const RunId first = finish(other.add(child("a")));
  late.advance(-std::chrono::minutes(30));
  EXPECT_GT(finish(other.add(child("b"))), first);
}

TEST_F(RegistryTest, settles_once) {
  const RunId id = add("c");
  EXPECT_EQ(registry.open_tasks(), 1u);
  EXPECT_TRUE(finish(registry.settle(id, Outcome::ok, R"("done")")));
  EXPECT_FALSE(finish(registry.settle(id, Outcome::error)));
  const RunView run = registry.find(id).value();
  EXPECT_EQ(run.status, Status::terminal);
  EXPECT_EQ(run.outcome, Outcome::ok);
  EXPECT_EQ(run.result, R"("done")");
  EXPECT_EQ(run.payload, R"({"a":1})");
  EXPECT_EQ(registry.open_tasks(), 0u);
  EXPECT_EQ(registry.active(By::requester, "main"), 0u);
  EXPECT_FALSE(finish(registry.settle(id + 1, Outcome::ok)));
}

TEST_F(RegistryTest, every_waiter_is_told_and_late_ones_at_once) {
  const RunId id = add("c");
  std::vector<Outcome> told;
  const auto note = [&](const std::exception_ptr&, const Settlement& end) { told.push_back(end.outcome); };
  for (int i = 0; i < 3; ++i) loop.start(registry.wait(id), note);
  EXPECT_EQ(registry.waiting(), 3u);
  finish(registry.settle(id, Outcome::timeout));
  EXPECT_THAT(told, ElementsAre(Outcome::timeout, Outcome::timeout, Outcome::timeout));
  EXPECT_EQ(registry.waiting(), 0u);
  EXPECT_EQ(finish(registry.wait(id)).outcome, Outcome::timeout);
}

TEST_F(RegistryTest, a_wait_can_be_given_up) {
  const RunId id = add("c");
  std::stop_source stop;
  bool cancelled = false;
  loop.start(registry.wait(id, stop.get_token()), [&](const std::exception_ptr& failure, const Settlement&) {
    try {
      std::rethrow_exception(failure);
    } catch (const Cancelled&) {
      cancelled = true;
    }
  });
  int told = 0;
  loop.start(registry.wait(id),
             [&](const std::exception_ptr& failure, const Settlement&) { told += failure ? 0 : 1; });
  stop.request_stop();
  run();
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(registry.waiting(), 1u);
  finish(registry.settle(id, Outcome::ok));
  EXPECT_EQ(told, 1);
}

TEST_F(RegistryTest, a_wait_for_a_run_that_is_erased_fails) {
  const RunId id = add("c");
  std::exception_ptr seen;
  loop.start(registry.wait(id),
             [&](const std::exception_ptr& failure, const Settlement&) { seen = failure; });
  finish(registry.erase({id}));
  EXPECT_THROW(std::rethrow_exception(seen), Error);
  EXPECT_EQ(registry.waiting(), 0u);
  EXPECT_THROW(finish(registry.wait(id)), Error);
}

TEST_F(RegistryTest, erasing_says_which_sessions_lost_their_last_run) {
  const RunId a1 = add("a");
  const RunId a2 = add("a");
  const RunId b = add("b");
  EXPECT_THAT(finish(registry.erase({a1, b})).sessions, ElementsAre("b"));
  EXPECT_THAT(finish(registry.erase({a2, b})).sessions, ElementsAre("a"));
  EXPECT_EQ(registry.size(), 0u);
  EXPECT_EQ(registry.table().names().size(), 0u);
}

TEST_F(RegistryTest, the_newest_generation_of_each_child_stands_for_it) {
  add("a");
  const RunId a2 = add("a");
  const RunId b = add("b");
  std::vector<RunId> ids;
  for (const RunView& run : registry.newest(By::requester, "main")) ids.push_back(run.id);
  EXPECT_THAT(ids, ElementsAre(b, a2));
}

TEST_F(RegistryTest, only_a_run_that_is_to_be_removed_is_archived) {
  const RunId keep = add("k");
  const RunId remove = add("r", Cleanup::remove);
  finish(registry.settle(keep, Outcome::ok));
  finish(registry.settle(remove, Outcome::ok));
  EXPECT_FALSE(registry.find(keep)->archive_at);
  EXPECT_EQ(registry.find(remove)->archive_at, clock.wall() + std::chrono::hours(1));
}

/// As the registry of a gateway, with a disk that is slow.
class DurableRegistryTest : public AgentsTest {
 protected:
  HeldStore store{loop};
  Registry registry{loop, store, clock};
};

TEST_F(DurableRegistryTest, a_registration_is_acknowledged_when_it_is_kept) {
  std::optional<RunId> acknowledged;
  loop.start(registry.add(child("c")), [&](const std::exception_ptr&, RunId id) { acknowledged = id; });
  run();
  EXPECT_FALSE(acknowledged);
  ASSERT_EQ(registry.size(), 1u);
  EXPECT_EQ(registry.runs(By::child, "c").front().status, Status::queued);
  store.succeed();
  run();
  ASSERT_TRUE(acknowledged);
  EXPECT_EQ(registry.find(*acknowledged)->status, Status::running);
}

TEST_F(DurableRegistryTest, a_registration_that_is_not_kept_did_not_happen) {
  std::exception_ptr seen;
  loop.start(registry.add(child("c")), [&](const std::exception_ptr& failure, RunId) { seen = failure; });
  store.fail(std::make_exception_ptr(Error(ErrorCode::failed, "disk full")));
  run();
  EXPECT_THROW(std::rethrow_exception(seen), Error);
  EXPECT_EQ(registry.size(), 0u);
  EXPECT_EQ(registry.open_tasks(), 0u);
}

TEST_F(DurableRegistryTest, nobody_hears_of_an_end_that_is_not_kept_yet) {
  RunId id = 0;
  loop.start(registry.add(child("c")), [&](const std::exception_ptr&, RunId added) { id = added; });
  store.succeed();
  run();
  int told = 0;
  std::vector<bool> settled;
  const auto note = [&](const std::exception_ptr& failure, bool first) {
    settled.push_back(!failure && first);
  };
  loop.start(registry.wait(id), [&](const std::exception_ptr&, const Settlement&) { ++told; });
  loop.start(registry.settle(id, Outcome::ok), note);
  loop.start(registry.settle(id, Outcome::error), note);  // somebody else is about to
  run();
  EXPECT_EQ(told, 0);
  EXPECT_EQ(registry.find(id)->status, Status::running);
  store.fail(std::make_exception_ptr(Error(ErrorCode::failed, "disk full")));
  run();
  EXPECT_EQ(told, 0);
  EXPECT_EQ(registry.find(id)->status, Status::running);
  loop.start(registry.settle(id, Outcome::cancelled), note);
  store.succeed();
  run();
  EXPECT_EQ(told, 1);
  EXPECT_THAT(settled, ElementsAre(false, false, true));
}

TEST_F(DurableRegistryTest, of_two_who_settle_at_once_one_does) {
  RunId id = 0;
  loop.start(registry.add(child("c")), [&](const std::exception_ptr&, RunId added) { id = added; });
  store.succeed();
  run();
  std::vector<bool> first;
  for (const Outcome outcome : {Outcome::error, Outcome::ok}) {
    loop.start(registry.settle(id, outcome), [&](const std::exception_ptr& failure, bool settled) {
      first.push_back(!failure && settled);
    });
  }
  store.succeed();
  run();
  EXPECT_THAT(first, testing::UnorderedElementsAre(true, false));
  EXPECT_EQ(registry.find(id)->outcome, Outcome::error);
}

TEST_F(DurableRegistryTest, a_run_that_is_being_erased_is_settled_by_nobody) {
  RunId id = 0;
  loop.start(registry.add(child("c")), [&](const std::exception_ptr&, RunId added) { id = added; });
  store.succeed();
  run();
  std::vector<std::string> order;
  loop.start(registry.wait(id), [&](const std::exception_ptr& failure, const Settlement&) {
    order.emplace_back(failure ? "wait failed" : "told");
  });
  loop.start(registry.erase({id}),
             [&](const std::exception_ptr&, const Registry::Erased&) { order.emplace_back("erased"); });
  loop.start(registry.settle(id, Outcome::ok), [&](const std::exception_ptr&, bool first) {
    order.emplace_back(first ? "settled" : "not settled");
  });
  store.succeed();
  run();
  EXPECT_THAT(order, testing::UnorderedElementsAre("not settled", "erased", "wait failed"));
}

TEST_F(DurableRegistryTest, a_run_that_is_being_settled_is_told_before_it_is_erased) {
  RunId id = 0;
  loop.start(registry.add(child("c")), [&](const std::exception_ptr&, RunId added) { id = added; });
  store.succeed();
  run();
  bool told = false;
  bool settled = false;
  loop.start(registry.wait(id),
             [&](const std::exception_ptr& failure, const Settlement&) { told = !failure; });
  loop.start(registry.settle(id, Outcome::ok),
             [&](const std::exception_ptr&, bool first) { settled = first; });
  loop.start(registry.erase({id}), [](const std::exception_ptr&, const Registry::Erased&) {});
  store.succeed();
  run();
  EXPECT_TRUE(settled);
  EXPECT_TRUE(told);
  EXPECT_EQ(registry.size(), 0u);
}

TEST_F(DurableRegistryTest, a_run_is_counted_as_active_from_its_acknowledgement_on) {
  loop.start(registry.add(child("c")), [](const std::exception_ptr&, RunId) {});
  run();
  EXPECT_EQ(registry.active(By::controller, "main"), 0u);
  EXPECT_EQ(registry.open_tasks(), 0u);
  store.succeed();
  run();
  EXPECT_EQ(registry.active(By::controller, "main"), 1u);
}

TEST_F(DurableRegistryTest, marks_that_cross_each_other_are_both_kept) {
  agents::Run open;
  static_cast<NewRun&>(open) = child("c");
  open.id = 5;
  store.kept = {open};
  registry.restore();
  loop.start(registry.mark(5, Delivery::delivered), [](const std::exception_ptr&) {});
  loop.start(registry.mark_recovered({{5, registry.table().find(5)}}),
             [](const std::exception_ptr&, const std::vector<Place>&) {});
  ASSERT_EQ(store.written.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Deliver>(store.written[0].front()));
  EXPECT_TRUE(std::holds_alternative<Recover>(store.written[1].front()));
  store.succeed();
  run();
  EXPECT_EQ(registry.find(5)->delivery, Delivery::delivered);
  EXPECT_TRUE(registry.find(5)->recovered);
}

TEST_F(DurableRegistryTest, texts_have_a_limit) {
  NewRun large = child("c");
  large.task = std::string(text_limit, 'x');
  EXPECT_THROW(finish(registry.add(std::move(large))), Error);
  EXPECT_TRUE(store.written.empty());
}

TEST_F(DurableRegistryTest, what_had_not_ended_comes_back_interrupted) {
  agents::Run open;
  static_cast<NewRun&>(open) = child("open");
  open.id = 5;
  agents::Run ended = open;
  ended.child = "ended";
  ended.id = 6;
  ended.status = Status::terminal;
  ended.settlement = Settlement{Outcome::error, clock.wall(), "{}"};
  store.kept = {open, ended};
  EXPECT_EQ(registry.restore(), 2u);
  EXPECT_EQ(registry.find(5)->status, Status::interrupted);
  EXPECT_EQ(registry.find(6)->status, Status::terminal);
  EXPECT_EQ(registry.find(6)->outcome, Outcome::error);
  EXPECT_EQ(registry.open_tasks(), 1u);
}

TEST_F(DurableRegistryTest, many_runs_settle_in_one_write) {
  std::vector<RunId> ids;
  for (const char* name : {"a", "b", "c"})
    loop.start(registry.add(child(name)), [&](const std::exception_ptr&, RunId id) { ids.push_back(id); });
  store.succeed();
  run();
  store.written.clear();
  std::size_t settled = 0;
  loop.start(registry.settle_all(ids, Outcome::lost),
             [&](const std::exception_ptr&, std::size_t count) { settled = count; });
  store.succeed();
  run();
  EXPECT_EQ(settled, 3u);
  ASSERT_EQ(store.written.size(), 1u);
  EXPECT_EQ(store.written.front().size(), 3u);
}

}  // namespace
}  // namespace tare::agents
