#include "lab/report/golden.hpp"

#include <gtest/gtest.h>

#include "lab/report/bench_table.hpp"
#include "lab/report/benches.hpp"
#include "lab/report/example_document.hpp"
#include "lab/report/import_export.hpp"
#include "lab/report/import_markdown.hpp"
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

TEST(Golden, the_document_of_gateways_as_json) {
  expect_golden("report_gateway.json", to_json(example_gateway_lanes(1, 3)));
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

TEST(Golden, the_table_of_agents) {
  expect_golden("report_agents.txt", render(example_agents_run(), options(120)));
}

TEST(Golden, the_table_of_agents_on_a_narrow_terminal) {
  expect_golden("report_agents_60.txt", render(example_agents_run(), options(60)));
}

TEST(Golden, the_markdown_of_agents) {
  expect_golden("report_agents.md", markdown(example_agents_run()));
}

TEST(Golden, the_table_of_imports) {
  expect_golden("report_import.txt", render(example_import_run(), options(120)));
}

TEST(Golden, the_table_of_imports_on_a_narrow_terminal) {
  expect_golden("report_import_60.txt", render(example_import_run(), options(60)));
}

TEST(Golden, the_markdown_of_imports_with_a_baseline) {
  const ImportBaseline baseline = example_import_baseline();
  expect_golden("report_import.md", import_markdown(example_import_run(), &baseline));
}

TEST(Golden, the_older_artifact_of_imports) {
  const ImportBaseline baseline = example_import_baseline();
  const json::Value old = import_export(example_import_run(), &baseline, {1769860800000, "/work", "x86_64"});
  expect_golden("import_export.json", json::pretty(old));
}

TEST(Golden, the_table_of_a_gateway) {
  expect_golden("report_gateway.txt", render(example_gateway_run(1, 120), options(80)));
}

TEST(Golden, the_table_of_a_gateway_on_a_narrow_terminal) {
  expect_golden("report_gateway_60.txt", render(example_gateway_run(1, 120), options(60)));
}

TEST(Golden, the_table_of_two_gateways) {
  expect_golden("report_gateways.txt", render(example_gateway_lanes(3, 60), options(120)));
}

TEST(Golden, the_markdown_of_gateways) {
  expect_golden("report_gateway.md", markdown(example_gateway_lanes(3, 60)));
}

TEST(Golden, the_tables_of_three_benches) {
  expect_golden(
      "report_all.txt",
      render(merge({example_quick_run(), example_agents_run(), example_gateway_run(1, 60)}), options(100)));
}

}  // namespace
}  // namespace tare::report
