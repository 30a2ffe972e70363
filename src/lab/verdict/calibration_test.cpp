#include "lab/verdict/calibration.hpp"

#include <cmath>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "lab/verdict/samples.hpp"

namespace tare::verdict {
namespace {

report::Calibration entry(const std::string& row, double apart) {
  report::Calibration made;
  made.target = "node";
  made.row = row;
  made.metric = "total";
  made.quantile = "p50";
  made.unit = "ms";
  made.iterations = 16;
  made.first = std::vector<double>(10, 100 * (1 + apart));
  made.second = std::vector<double>(10, 100);
  return made;
}

Design design(const std::string& row) {
  return {"node", row, "total", "p50", measure::Pairing::paired, 1, 16};
}

TEST(Calibration, is_kept_by_machine_and_replaced_by_a_newer_one) {
  const file::TemporaryFolder folder("tare-test");
  const auto cache = folder.path() / "deep" / "calibration.json";
  const report::Document here = made_document({});
  report::Document elsewhere = made_document({});
  elsewhere.host.cpu = "Another CPU";
  EXPECT_TRUE(calibrations_for(here, cache).empty());

  save_calibrations(here, {entry("node_exit_1", 0.10), entry("nested_8", 0.20)}, cache);
  save_calibrations(here, {entry("node_exit_1", 0.03)}, cache);
  save_calibrations(elsewhere, {entry("node_exit_1", 0.50)}, cache);

  const auto known = calibrations_for(here, cache);
  EXPECT_EQ(known.size(), 2U);
  EXPECT_NEAR(minimum_detectable(known, design("node_exit_1")).value(), 0.03, 1e-12);
  EXPECT_NEAR(minimum_detectable(known, design("nested_8")).value(), 0.20, 1e-12);
  EXPECT_NEAR(minimum_detectable(calibrations_for(elsewhere, cache), design("node_exit_1")).value(), 0.5,
              1e-12);
}

TEST(Calibration, that_a_document_brings_along_counts_where_the_cache_has_none) {
  report::Document document = made_document({});
  document.calibrations = {entry("node_exit_1", 0.04)};
  EXPECT_NEAR(
      minimum_detectable(calibrations_for(document, "/nonexistent/x.json"), design("node_exit_1")).value(),
      0.04, 1e-12);
}

TEST(Calibration, says_nothing_of_what_was_not_calibrated) {
  EXPECT_FALSE(minimum_detectable({}, design("node_exit_1")));
  EXPECT_FALSE(minimum_detectable({entry("nested_8", 0.1)}, design("node_exit_1")));
}

TEST(Calibration, fewer_samples_see_less) {
  Design four = design("node_exit_1");
  four.samples = 4;
  EXPECT_NEAR(minimum_detectable({entry("node_exit_1", 0.03)}, four).value(), 0.06, 1e-12);
  four.samples = 1000;
  EXPECT_NEAR(minimum_detectable({entry("node_exit_1", 0.03)}, four).value(), 0.03, 1e-12);
}

TEST(Calibration, those_who_write_at_once_lose_nothing) {
  const file::TemporaryFolder folder("tare-test");
  const auto cache = folder.path() / "calibration.json";
  std::vector<std::jthread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back(
        [&, i] { save_calibrations(made_document({}), {entry(fmt::format("row_{}", i), 0.1)}, cache); });
  }
  writers.clear();
  EXPECT_EQ(calibrations_for(made_document({}), cache).size(), 8U);
}

TEST(Calibration, a_damaged_cache_is_named) {
  const file::TemporaryFolder folder("tare-test");
  const auto cache = folder.path() / "calibration.json";
  file::write_atomically(cache, "{\"schema\": \"tare.calibration.v1\", ");
  EXPECT_THROW(calibrations_for(made_document({}), cache), Error);
  file::write_atomically(cache, R"({"schema": "tare.calibration.v2", "machines": []})");
  EXPECT_THROW(calibrations_for(made_document({}), cache), Error);
  file::write_atomically(cache, "");
  try {
    check_cache(cache);
    ADD_FAILURE() << "an empty file was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.hint(), "remove it and calibrate again");
  }
}

}  // namespace
}  // namespace tare::verdict
