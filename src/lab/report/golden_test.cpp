#include "lab/report/golden.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "lab/report/bench_table.hpp"
#include "lab/report/example_document.hpp"
#include "lab/report/markdown.hpp"

namespace tare::report {

void expect_golden(std::string_view name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(TARE_GOLDEN_DIR) / name;
  if (std::getenv("TARE_UPDATE_GOLDEN") != nullptr) return file::write_atomically(path, text);
  const std::vector<std::string> expected = text::split(file::read(path), '\n');
  const std::vector<std::string> actual = text::split(text, '\n');
  for (std::size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
    const std::string want = i < expected.size() ? expected[i] : "(end)";
    const std::string got = i < actual.size() ? actual[i] : "(end)";
    ASSERT_EQ(want, got) << name << ", line " << i + 1 << "; if it is meant: TARE_UPDATE_GOLDEN=1";
  }
}

namespace {

RenderOptions options(std::size_t width) {
  RenderOptions options;
  options.width = width;
  options.wrote = {"out/run.json", "out/report.md"};
  return options;
}

TEST(Golden, the_document_as_json) {
  expect_golden("report_run.json", to_json(example_document(3)));
}

TEST(Golden, the_table_on_a_usual_terminal) {
  expect_golden("report_table.txt", render(example_document(200), options(100)));
}

TEST(Golden, the_table_on_a_narrow_terminal) {
  expect_golden("report_table_60.txt", render(example_document(200), options(60)));
}

TEST(Golden, a_quick_run) {
  expect_golden("report_quick.txt", render(example_quick_run(), options(100)));
}

TEST(Golden, the_markdown) {
  expect_golden("report_run.md", markdown(example_document(200)));
}

}  // namespace
}  // namespace tare::report
