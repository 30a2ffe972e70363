#include "runtime/gateway/log.hpp"

#include <array>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "runtime/gateway/metrics.hpp"

namespace tare::gateway {
namespace {

class LogTest : public testing::Test {
 protected:
  ManualClock clock;
  std::string written;
  Log log{clock, LogLevel::info, [this](std::string_view line) { written += line; }};
  file::TemporaryFolder folder;
};

TEST_F(LogTest, a_record_is_one_line_of_json) {
  log.write(LogLevel::warn, "a \"b\"\n\xff", {{"peer", "127.0.0.1"}});
  EXPECT_EQ(written.find('\n'), written.size() - 1);
  const json::Value record = json::parse(written, "log");
  EXPECT_EQ(record.at("ts"), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(record.at("level"), "warn");
  EXPECT_EQ(record.at("msg"), "a \"b\"\n\\xff");
  EXPECT_EQ(record.at("peer"), "127.0.0.1");
}

TEST_F(LogTest, what_is_below_its_level_is_not_written) {
  log.write(LogLevel::debug, "no");
  EXPECT_EQ(written, "");
}

TEST_F(LogTest, the_timeline_has_a_line_for_each_span) {
  const auto path = folder.path() / "timeline.jsonl";
  Timeline timeline(clock, path, log);
  timeline.span("agent.turn", std::chrono::milliseconds(3));
  timeline.span("agent.turn", std::chrono::microseconds(1500));
  const std::string text = file::read(path);
  const json::Value first = json::parse(text.substr(0, text.find('\n')), "timeline");
  EXPECT_EQ(first.at("schemaVersion"), "openclaw.diagnostics.v1");
  EXPECT_EQ(first.at("type"), "span.end");
  EXPECT_EQ(first.at("durationMs").to_number<double>(), 3);
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
}

TEST_F(LogTest, a_timeline_that_cannot_be_written_is_told_once) {
  Timeline timeline(clock, "/dev/full", log);
  timeline.span("a", {});
  timeline.span("b", {});
  EXPECT_EQ(std::ranges::count(written, '\n'), 1);
  EXPECT_THAT(written, testing::HasSubstr("[diagnostics] failed to write timeline event"));
  EXPECT_THROW(Timeline(clock, folder.path() / "none" / "t", log), Error);
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(Timeline(clock, pipe, log), Error) << "nobody reads it";
}

TEST(Metrics, are_text_that_prometheus_reads) {
  MetricsText text;
  text.one("connections", MetricsText::Type::gauge, "Open connections", 3);
  text.family("requests_total", MetricsText::Type::counter, "Requests");
  text.sample(1.5, {{"method", "a\"b"}, {"code", "x"}});
  EXPECT_EQ(text.take(),
            "# HELP tare_gateway_connections Open connections\n"
            "# TYPE tare_gateway_connections gauge\n"
            "tare_gateway_connections 3\n"
            "# HELP tare_gateway_requests_total Requests\n"
            "# TYPE tare_gateway_requests_total counter\n"
            "tare_gateway_requests_total{method=\"a\\\"b\",code=\"x\"} 1.5\n");
}

TEST_F(LogTest, a_record_fits_into_a_pipe_whatever_it_quotes) {
  log.write(LogLevel::warn, "run ended",
            {{"run", std::string(100'000, '\1')}, {"error", std::string(100'000, '\1')}, {"session", "é"}});
  EXPECT_LE(written.size(), 4096u);
  EXPECT_EQ(json::parse(written, "log").at("session"), "é");
}

TEST_F(LogTest, a_reader_that_stopped_is_not_waited_for_and_told_later_what_it_missed) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Fd reader(ends[0]);
  const Fd writer(ends[1]);
  LogOutlet outlet(clock, writer.get());
  const std::string line = std::string(999, 'x') + "\n";
  for (int i = 0; i < 1000; ++i) outlet.write(line);
  std::string read(1024 * 1024, '\0');
  read.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(reader.get(), read.data(), read.size()), 0)));
  const auto kept = std::ranges::count(read, '\n');
  EXPECT_GT(kept, 10);
  EXPECT_LT(kept, 1000);
  outlet.write("{}\n");
  read.resize(4096);
  read.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(reader.get(), read.data(), read.size()), 0)));
  EXPECT_EQ(json::parse(read.substr(0, read.find('\n')), "log").at("lines"), 1000 - kept);
  EXPECT_TRUE(read.ends_with("\n{}\n"));
}

}  // namespace
}  // namespace tare::gateway
