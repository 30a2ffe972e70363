// A driver that starts nothing and answers every row at once, correctly: with it, the memory of the lab can
// be measured over thousands of samples in seconds. The lab does with these what it does with any others.

#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>
#include <unistd.h>

#include "base/json.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Params {
  std::optional<std::int64_t> fanout;
  std::optional<std::string> nonce;
  std::optional<std::size_t> bytes;
  std::optional<std::string> input;
  std::optional<std::string> dir;
  std::optional<std::string> file;
  std::optional<std::string> content;
};
BOOST_DESCRIBE_STRUCT(Params, (), (fanout, nonce, bytes, input, dir, file, content))

struct Request {
  std::int64_t id = 0;
  std::string op;
  std::optional<std::string> row;
  std::optional<Params> params;
};
BOOST_DESCRIBE_STRUCT(Request, (), (id, op, row, params))

struct Hello {
  std::int64_t id = 0;
  bool ok = true;
  std::string protocol = "tare.driver.v1";
  std::string name = "instant";
  std::string version = "1";
  std::string engine = "none";
  std::int64_t pid = ::getpid();
  std::vector<std::string> rows = {
      "node_exit_1",        "fanout_<n>",           "nested_8",    "capture_2b",        "capture_256k",
      "stdin_roundtrip_4k", "exit_code_7",          "signal_kill", "root_cwd_no_write", "spawn_exit",
      "host_cwd_no_write",  "host_cwd_write_1file", "exec_true",   "reap_storm_32",     "command_exit"};
};
BOOST_DESCRIBE_STRUCT(Hello, (), (id, ok, protocol, name, version, engine, pid, rows))

struct Resources {
  std::int64_t cpu_user_us = 0;
  std::int64_t cpu_system_us = 0;
  std::uint64_t max_rss_bytes = std::uint64_t{40} << 20;
};
BOOST_DESCRIBE_STRUCT(Resources, (), (cpu_user_us, cpu_system_us, max_rss_bytes))

struct Sample {
  std::string outcome = "ok";
  std::map<std::string, std::int64_t> ns;
  std::map<std::string, std::int64_t> counters;
  std::optional<std::string> output;
  Resources resources;
};
BOOST_DESCRIBE_STRUCT(Sample, (), (outcome, ns, counters, output, resources))

struct Answer {
  std::int64_t id = 0;
  bool ok = true;
  std::vector<Sample> samples;
};
BOOST_DESCRIBE_STRUCT(Answer, (), (id, ok, samples))

struct Farewell {
  std::int64_t id = 0;
  bool ok = true;
};
BOOST_DESCRIBE_STRUCT(Farewell, (), (id, ok))

std::string repeated(const std::string& text, std::size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += text;
  all.resize(bytes);
  return all;
}

void count(Sample& sample, std::string_view row, std::int64_t fanout) {
  if (row == "signal_kill") {
    sample.counters = {{"signal", 9}};
  } else if (row.starts_with("fanout_")) {
    sample.counters = {{"exits", fanout}, {"nonZero", 0}};
  } else if (row == "reap_storm_32") {
    sample.counters = {{"exits", fanout}, {"nonZero", 0},       {"zombies", 0},     {"fdsBefore", 3},
                       {"fdsAfter", 3},   {"threadsBefore", 1}, {"threadsAfter", 1}};
  } else {
    sample.counters = {{"exitCode", row == "exit_code_7" ? 7 : 0}};
  }
}

/// What the process would have written.
void write(Sample& sample, std::string_view row, const Params& params) {
  if (params.nonce && params.bytes) sample.output = repeated(*params.nonce, *params.bytes);
  if (params.input) sample.output = params.input;
  if (row == "nested_8") {
    sample.output = R"(__BENCH098__{"expectedChildren":8,"exitCallbacks":8,"closeCallbacks":8,)"
                    R"("errorCallbacks":0,"nonZeroExitCodes":0,"nonZeroCloseCodes":0})"
                    "\n";
  }
  if (params.dir && params.file && params.content) {
    std::ofstream(*params.dir + "/" + *params.file) << *params.content;
  }
}

/// The times are real: those of making the sample.
Sample make_sample(std::string_view row, const Params& params) {
  const Clock::time_point start = Clock::now();
  Sample sample;
  count(sample, row, params.fanout.value_or(0));
  const Clock::time_point half = Clock::now();
  write(sample, row, params);
  const Clock::time_point end = Clock::now();
  const std::string batch = row.starts_with("fanout_") ? "_batch" : "";
  sample.ns = {{"total", (end - start).count()},
               {"spawn" + batch, (half - start).count()},
               {"wait_reap" + batch, (end - half).count()}};
  sample.resources.cpu_user_us = (end - start).count() / 1000;
  return sample;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto request = tare::json::read<Request>(tare::json::parse(line, "request"), "request");
    if (request.op == "hello") {
      Hello hello;
      hello.id = request.id;
      std::cout << tare::json::line(hello) << std::endl;
    } else if (request.op == "bye") {
      std::cout << tare::json::line(Farewell{request.id}) << std::endl;
      return 0;
    } else {
      Answer answer{request.id, true, {}};
      answer.samples.push_back(make_sample(request.row.value_or(""), request.params.value_or(Params{})));
      std::cout << tare::json::line(answer) << std::endl;
    }
  }
}
