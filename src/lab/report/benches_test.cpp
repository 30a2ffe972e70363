#include "lab/report/benches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/report/example_document.hpp"

namespace tare::report {
namespace {

using testing::ElementsAre;

/// A document of one bench with a row on one target.
Document part(const std::string& bench, const std::string& row, const std::string& target,
              const std::string& driver) {
  Document document;
  document.complete = true;
  document.finished_at = "2026-01-31T12:00:00Z";
  document.config = json::Object{{"bench", bench}, {"seed", 42}};
  Target facts;
  facts.id = target;
  facts.driver = {driver};
  document.targets = {facts};
  Row made;
  made.bench = bench;
  made.row = row;
  made.target = target;
  document.rows = {made};
  Comparison comparison;
  comparison.row = row;
  document.comparisons = {comparison};
  return document;
}

Document both() {
  return merge({part("spawn", "fanout_8", "node", "node.mjs"),
                part("agents", "admission_8", "node", "registry_node.mjs")});
}

TEST(Benches, merged_are_one_document_with_the_options_of_each) {
  const Document whole = both();
  EXPECT_THAT(benches_of(whole), ElementsAre("spawn", "agents"));
  const json::Object& config = whole.config.as_object();
  EXPECT_EQ(config.at("bench"), "all");
  EXPECT_EQ(config.at("spawn").at("bench"), "spawn");
  EXPECT_EQ(config.at("agents").at("seed"), 42);
  EXPECT_EQ(whole.comparisons.size(), 2U);
  EXPECT_TRUE(whole.complete);
  EXPECT_NO_THROW(from_json(to_json(whole), "merged"));
}

TEST(Benches, a_target_of_two_benches_stands_once_and_keeps_both_drivers) {
  const Document whole = both();
  ASSERT_EQ(whole.targets.size(), 1U);
  EXPECT_THAT(whole.targets[0].driver, ElementsAre("node.mjs"));
  EXPECT_EQ(whole.config.at("agents").at("drivers").at("node"), (json::Array{"registry_node.mjs"}));
  EXPECT_FALSE(whole.config.at("spawn").as_object().contains("drivers"));
}

TEST(Benches, a_part_has_its_own_rows_and_options_and_no_others) {
  const Document agents = part_of(both(), "agents");
  EXPECT_EQ(agents.config.at("bench"), "agents");
  ASSERT_EQ(agents.rows.size(), 1U);
  EXPECT_EQ(agents.rows[0].row, "admission_8");
  ASSERT_EQ(agents.comparisons.size(), 1U);
  EXPECT_EQ(agents.comparisons[0].row, "admission_8");
}

TEST(Benches, a_document_of_one_bench_is_its_own_part) {
  const Document document = example_document(20);
  EXPECT_EQ(to_json(part_of(document, "spawn")), to_json(document));
  EXPECT_EQ(part_of(document, "spawn").targets.size(), document.targets.size());
}

TEST(Benches, one_that_was_cut_short_or_broken_makes_the_whole_so) {
  Document second = part("agents", "admission_8", "embedded", "tare");
  second.complete = false;
  second.finished_at = std::nullopt;
  second.invariants = {false, {"admission_8 on embedded: wrong"}};
  second.memory.emplace().rss_start_bytes = 7;
  const Document whole = merge({part("spawn", "fanout_8", "node", "node.mjs"), second});
  EXPECT_FALSE(whole.complete);
  EXPECT_EQ(whole.finished_at, std::nullopt);
  EXPECT_FALSE(whole.invariants.ok);
  EXPECT_THAT(whole.invariants.failures, ElementsAre("admission_8 on embedded: wrong"));
  EXPECT_EQ(whole.memory.value().rss_start_bytes, 7U);
}

TEST(Benches, what_both_found_is_said_once) {
  Document first = part("spawn", "fanout_8", "node", "node.mjs");
  first.findings = {{FindingLevel::warn, {}, {}, "the machine was busy"}};
  Document second = part("agents", "admission_8", "node", "node.mjs");
  second.findings = {{FindingLevel::warn, {}, {}, "the machine was busy"},
                     {FindingLevel::note, {}, {}, "other"}};
  EXPECT_EQ(merge({first, second}).findings.size(), 2U);
}

TEST(Benches, the_records_of_gateways_belong_to_their_bench) {
  Document second = part("gateway", "turns", "embedded", "tare");
  second.gateways.emplace(1).front().target = "embedded";
  const Document whole = merge({part("spawn", "fanout_8", "node", "node.mjs"), second});
  ASSERT_TRUE(whole.gateways);
  EXPECT_EQ(part_of(whole, "gateway").gateways->front().target, "embedded");
  EXPECT_FALSE(part_of(whole, "spawn").gateways);
}

}  // namespace
}  // namespace tare::report
