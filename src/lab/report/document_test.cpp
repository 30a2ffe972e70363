#include "lab/report/document.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "lab/report/example_document.hpp"

namespace tare::report {
namespace {

using testing::HasSubstr;

/// The one line that a person sees for this text, or "read" when it is a document.
std::string complaint(std::string_view text) {
  try {
    from_json(text, "run.json");
    return "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), exit_usage);
    EXPECT_EQ(error.line().find('\n'), std::string::npos);
    return error.line();
  }
}

/// The example document with one piece of its text replaced.
std::string with(std::string_view from, std::string_view to) {
  std::string text = to_json(example_document(3));
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Document, reads_back_as_it_was_written) {
  for (const std::uint32_t rounds : {0U, 1U, 3U, 40U}) {
    const std::string text = to_json(example_document(rounds));
    EXPECT_EQ(to_json(from_json(text, "run.json")), text);
  }
  EXPECT_EQ(to_json(from_json(to_json(Document{}), "run.json")), to_json(Document{}));
}

TEST(Document, one_of_a_version_without_histograms_and_gateways_is_read) {
  std::string text = to_json(example_document(3));
  for (const std::string member : {"\"histogram\": null,", "\"gateways\": null,"}) {
    ASSERT_NE(text.find(member), std::string::npos);
    for (std::size_t at; (at = text.find(member)) != std::string::npos;) text.erase(at, member.size());
  }
  EXPECT_EQ(to_json(from_json(text, "run.json")), to_json(example_document(3)));
}

TEST(Document, an_absent_figure_is_null_with_a_note) {
  const std::string text = to_json(example_document(3));
  EXPECT_THAT(text, HasSubstr("\"p95\": null"));
  EXPECT_THAT(text, HasSubstr("p95 n/a (n<20)"));
}

TEST(Document, a_number_that_json_does_not_have_is_refused) {
  Document document = example_document(3);
  document.rows[0].metrics["total"].samples[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(to_json(document), Error);
}

TEST(Document, finds_a_row_by_name_and_target) {
  const Document document = example_document(3);
  ASSERT_NE(find_row(document, "fanout_8", "node"), nullptr);
  EXPECT_EQ(find_row(document, "fanout_8", "node")->size, 8u);
  EXPECT_EQ(find_row(document, "fanout_8", "sh"), nullptr);
}

TEST(Document, says_in_one_line_why_a_text_is_no_document) {
  EXPECT_EQ(complaint(""), "tare: run.json: not JSON (it is empty)");
  EXPECT_EQ(complaint("\xEF\xBB\xBF{}"),
            "tare: run.json: not JSON (it starts with a byte order mark; save it as plain UTF-8)");
  EXPECT_EQ(complaint(std::string_view("\xFF\xFE{\0}\0", 6)),
            "tare: run.json: not JSON (it is UTF-16; save it as UTF-8)");
  EXPECT_EQ(complaint("{}"), "tare: run.json is not a run document (it has no \"schema\")");
  EXPECT_EQ(complaint("[1]"), "tare: run.json is not a run document (it has no \"schema\")");
  EXPECT_EQ(complaint(R"({"schema":7})"), "tare: run.json is not a run document (it has no \"schema\")");
  EXPECT_THAT(complaint(R"({"schema":"tare.run.v1"})"), HasSubstr("run.json: complete (missing)"));
}

TEST(Document, a_truncated_document_ends_early) {
  const std::string text = to_json(example_document(3));
  for (const std::size_t length : {std::size_t{1}, text.size() / 3, text.size() - 2}) {
    EXPECT_EQ(complaint(text.substr(0, length)),
              "tare: run.json: not JSON (it ends early, after " + std::to_string(length) + " bytes)");
  }
}

TEST(Document, a_newer_schema_needs_a_newer_tare) {
  EXPECT_EQ(complaint(with("tare.run.v1", "tare.run.v2")),
            "tare: run.json has schema 'tare.run.v2' (this version reads 'tare.run.v1'); use the version of "
            "tare that "
            "wrote it");
  EXPECT_EQ(complaint(with("tare.run.v1", "k6.summary")),
            "tare: run.json has schema 'k6.summary' (this version reads 'tare.run.v1')");
}

TEST(Document, another_document_of_this_program_is_no_run) {
  for (const std::string name : {"tare.comparison.v1", "tare.gate.v1"}) {
    EXPECT_EQ(complaint("{\"schema\":\"" + name + "\"}"),
              "tare: run.json is not a run document (its schema is '" + name +
                  "'); name a document that a run wrote");
  }
}

TEST(Document, arrays_of_a_metric_must_be_parallel) {
  EXPECT_EQ(complaint(with("\"round\": [0, 1, 2]", "\"round\": [0, 1]")),
            "tare: run.json: rows[0].metrics.spawn (samples, round, process, atMs, outcome and error differ "
            "in length); it is not as a run writes it");
}

TEST(Document, a_wrong_type_is_named_with_its_place) {
  EXPECT_EQ(complaint(with("\"seed\": 42", "\"seed\": \"42\"")),
            "tare: run.json: seed (expected a whole number, got a string)");
  EXPECT_EQ(complaint(with("\"seed\": 42", "\"seed\": -1")),
            "tare: run.json: seed (expected a whole number, got a number)");
  EXPECT_EQ(complaint(with("\"status\": \"ok\"", "\"status\": \"fine\"")),
            "tare: run.json: rows[0].status (unknown name 'fine')");
  EXPECT_EQ(complaint(with("\"unit\": \"ms\"", "\"unit\": null")),
            "tare: run.json: rows[0].metrics.spawn.unit (expected a string, got null)");
  EXPECT_THAT(complaint(with("\"round\": [0, 1, 2]", "\"round\": [0, 1.5, 2]")),
              HasSubstr("rows[0].metrics.spawn.round[1] (expected a whole number"));
}

TEST(Document, is_saved_whole_or_not_at_all) {
  const file::TemporaryFolder folder;
  const auto path = folder.path() / "deep" / "run.json";
  save(example_document(3), path);
  EXPECT_EQ(to_json(load(path)), to_json(example_document(3)));
  Document broken = example_document(3);
  broken.rows[0].metrics["total"].at_ms[0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(save(broken, path), Error);
  EXPECT_EQ(to_json(load(path)), to_json(example_document(3)));
}

}  // namespace
}  // namespace tare::report
