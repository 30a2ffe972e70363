#include "runtime/agents/admission.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace tare::agents {
namespace {

std::optional<Refusal> always(const Pending&) {
  return std::nullopt;
}

/// Grants up to n at a time.
auto at_most(std::uint64_t n) {
  return [n](const Pending& pending) -> std::optional<Refusal> {
    if (pending.controller < n) return std::nullopt;
    return Refusal{"n", n, pending.controller};
  };
}

Reservation granted(std::variant<Reservation, Refusal> answer) {
  return std::get<Reservation>(std::move(answer));
}

TEST(Admission, the_policy_is_asked_with_what_is_pending_of_this_controller) {
  Admission admission;
  std::vector<std::uint64_t> seen;
  const auto watch = [&](const Pending& pending) -> std::optional<Refusal> {
    seen.push_back(pending.controller);
    return std::nullopt;
  };
  const Reservation a = granted(admission.reserve({"main"}, watch));
  const Reservation b = granted(admission.reserve({"main"}, watch));
  const Reservation c = granted(admission.reserve({"other"}, watch));
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 1, 0}));
}

TEST(Admission, refuses_the_one_too_many_and_takes_it_when_a_slot_is_free_again) {
  Admission admission;
  Reservation first = granted(admission.reserve({"main"}, at_most(2)));
  const Reservation second = granted(admission.reserve({"main"}, at_most(2)));
  const auto third = admission.reserve({"main"}, at_most(2));
  ASSERT_TRUE(std::holds_alternative<Refusal>(third));
  EXPECT_EQ(std::get<Refusal>(third).text(), "n is 2, and 2 are there");
  first.release();
  EXPECT_TRUE(std::holds_alternative<Reservation>(admission.reserve({"main"}, at_most(2))));
}

TEST(Admission, a_second_release_does_nothing) {
  Admission admission;
  Reservation first = granted(admission.reserve({"main"}, always));
  const Reservation second = granted(admission.reserve({"main"}, always));
  first.release();
  first.release();
  EXPECT_EQ(admission.pending({"main"}).controller, 1u);
  EXPECT_EQ(admission.pending(), 1u);
}

TEST(Admission, a_moved_reservation_is_released_once) {
  Admission admission;
  {
    Reservation first = granted(admission.reserve({"main", "child", "group"}, always));
    const Reservation moved = std::move(first);
    EXPECT_EQ(admission.pending(), 1u);
  }
  EXPECT_EQ(admission.pending(), 0u);
  EXPECT_EQ(admission.pending({"main", "child", "group"}).group, 0u);
}

TEST(Admission, a_child_that_is_being_started_is_not_started_twice) {
  Admission admission;
  bool asked = false;
  const Reservation first = granted(admission.reserve({"main", "child"}, always));
  const auto second = admission.reserve({"other", "child"}, [&](const Pending&) {
    asked = true;
    return std::optional<Refusal>();
  });
  ASSERT_TRUE(std::holds_alternative<Refusal>(second));
  EXPECT_EQ(std::get<Refusal>(second).cap, "childBeingStarted");
  EXPECT_EQ(std::get<Refusal>(second).text(), "this child is being started already");
  EXPECT_FALSE(asked);
}

TEST(Policy, the_defaults_are_those_of_the_seed) {
  EXPECT_EQ(Caps{}.max_spawn_depth, 5u);
  EXPECT_EQ(Caps{}.max_children_per_agent, 5u);
}

TEST(Policy, a_refusal_names_the_cap_that_governs_and_its_numbers) {
  const auto cap = [](const Load& load, const Pending& pending, Caps caps = {}) {
    const auto refusal = decide(caps, load, pending);
    return refusal ? refusal->text() : "granted";
  };
  EXPECT_EQ(cap({4, 4, 0, 0}, {0, 0, 0}), "granted");
  EXPECT_EQ(cap({5, 0, 0, 0}, {0, 0, 0}), "maxSpawnDepth is 5, and 5 are there");
  EXPECT_EQ(cap({0, 3, 0, 0}, {2, 0, 0}), "maxChildrenPerAgent is 5, and 5 are there");
  EXPECT_EQ(cap({0, 0, 1, 0}, {0, 1, 0}, {5, 5, 2, {}}), "maxPerGroup is 2, and 2 are there");
  EXPECT_EQ(cap({0, 0, 0, 1}, {0, 0, 2}, {5, 5, {}, 3}), "maxInAllGroups is 3, and 3 are there");
}

TEST(Policy, caps_have_ranges) {
  EXPECT_NO_THROW(check({5, 20, {}, {}}));
  EXPECT_THROW(check({5, 21, {}, {}}), Error);
  EXPECT_THROW(check({5, 0, {}, {}}), Error);
  EXPECT_THROW(check({6, 5, {}, {}}), Error);
}

}  // namespace
}  // namespace tare::agents
