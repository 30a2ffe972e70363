#include "lab/bench/common/defects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace tare::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<Defect> known = {
    {"1.0", "signal_kill", {}, "cannot be killed", DefectEffect::unavailable},
    {"1.0", "capture_*", "output_exact", "drops a byte", DefectEffect::note},
    {"1.0", "fanout_*", {}, "waits 10 ms", DefectEffect::note},
};

report::Row row(const std::string& name, std::map<std::string, std::int64_t> counters = {}) {
  report::Row made;
  made.row = name;
  made.target = "peer";
  made.metrics["total"].unit = "ms";
  made.counters = std::move(counters);
  return made;
}

TEST(Defects, hold_for_one_version_only) {
  const file::TemporaryFolder folder("tare-test");
  const auto path = folder.path() / "defects.json";
  file::write_atomically(path, R"([{"version":"1.0","row":"*","check":null,"text":"t","effect":"note"}])");
  EXPECT_EQ(load_defects(path, "1.0").size(), 1U);
  EXPECT_THAT(load_defects(path, "1.1"), IsEmpty());
  EXPECT_THAT(load_defects(folder.path() / "none.json", "1.0"), IsEmpty());
  file::write_atomically(path, R"([{"version":"1.0","row":"*","text":"t","effect":"ignore"}])");
  EXPECT_THROW(load_defects(path, "1.0"), Error);
}

TEST(Defects, make_a_row_unavailable_with_their_words) {
  EXPECT_EQ(why_unavailable(known, "signal_kill"), "known defect of 1.0: cannot be killed");
  EXPECT_FALSE(why_unavailable(known, "capture_2b"));
  EXPECT_FALSE(why_unavailable({}, "signal_kill"));
}

TEST(Defects, excuse_a_single_check) {
  EXPECT_THAT(excused_checks(known, "capture_2b"), ElementsAre("output_exact"));
  EXPECT_THAT(excused_checks(known, "node_exit_1"), IsEmpty());
}

TEST(Defects, of_the_same_words_are_one_finding) {
  report::Document document;
  document.rows = {row("nested_8"), row("capture_2b")};
  const auto findings = defect_findings(document, "peer",
                                        {{"1.0", "capture_*", {}, "waits", DefectEffect::note},
                                         {"1.0", "nested_8", {}, "waits", DefectEffect::note}});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].text, "known defect of 1.0 in capture_2b, nested_8: waits");
}

TEST(Defects, can_name_a_range_of_rows) {
  const Defect many{"1.0", "fanout_@(6[4-9]|[7-9][0-9]|[1-9][0-9][0-9]*)", {}, "refused", DefectEffect::note};
  EXPECT_FALSE(concerns(many, "fanout_8"));
  EXPECT_FALSE(concerns(many, "fanout_63"));
  EXPECT_TRUE(concerns(many, "fanout_64"));
  EXPECT_TRUE(concerns(many, "fanout_1000"));
}

TEST(Defects, are_findings_where_they_were_seen) {
  report::Document document;
  document.rows = {row("capture_2b", {{"defect_output_exact", 3}}), row("capture_256k"), row("fanout_8")};
  const auto findings = defect_findings(document, "peer", known);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].text, "known defect of 1.0 in capture_2b (3 times here): drops a byte");
  EXPECT_THAT(findings[1].text, HasSubstr("in fanout_8: waits 10 ms"));
  EXPECT_THAT(defect_findings(document, "another", known), IsEmpty());
}

}  // namespace
}  // namespace tare::bench
