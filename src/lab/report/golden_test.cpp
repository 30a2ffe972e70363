#include "lab/report/golden.hpp"

#include <gtest/gtest.h>

#include "lab/report/bench_table.hpp"
#include "lab/report/example_document.hpp"
#include "lab/report/markdown.hpp"

namespace tare::report {

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
