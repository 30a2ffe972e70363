#include "runtime/agents_driver/driver.hpp"

#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "runtime/agents_driver/scenario.hpp"
#include "runtime/agents_driver/world.hpp"

namespace tare::agents_driver {
namespace {

constexpr std::uint32_t most_iterations = 100'000;

struct Hello {
  std::string protocol;
  std::string name;
  std::string version;
  std::string engine;
  std::int64_t pid = 0;
  std::vector<std::string> rows;
};
BOOST_DESCRIBE_STRUCT(Hello, (), (protocol, name, version, engine, pid, rows))

struct Request {
  std::string row;
  Params params;
  std::optional<std::uint32_t> iterations;
};
BOOST_DESCRIBE_STRUCT(Request, (), (row, params, iterations))

struct Samples {
  std::vector<Sample> samples;
};
BOOST_DESCRIBE_STRUCT(Samples, (), (samples))

/// A line of /proc/self/status in bytes: "VmRSS", "VmHWM".
std::optional<std::uint64_t> own_memory(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(field) || line[field.size()] != ':') continue;
    const auto words = text::split(text::trim(std::string_view(line).substr(field.size() + 1)), ' ');
    const auto kilobytes = text::to_int(words.front());
    if (kilobytes) return static_cast<std::uint64_t>(*kilobytes) * 1024;
  }
  return std::nullopt;
}

std::string hello(const json::Value& request) {
  serve::check_protocol(request);
  return json::line(Hello{std::string(serve::protocol), "tare", std::string(version()),
                          fmt::format("c++, sqlite"), ::getpid(), row_names()});
}

/// A sample, or what there is to say of one that used up its budget.
Sample within(std::chrono::milliseconds budget, Scenario& scenario) {
  const Instant start = SystemClock().now();
  try {
    Sample sample = scenario.sample();
    if (sample.ns.at("total") <= static_cast<std::uint64_t>(Nanoseconds(budget).count())) return sample;
  } catch (const Late&) {
    // Said below, once all that it held is gone.
  }
  Sample late;
  late.outcome = "timeout";
  late.error = fmt::format("not done after {} ms", budget.count());
  late.ns["total"] = ns_since(start);
  return late;
}

std::string sample(const json::Value& value) {
  const auto request = json::read<Request>(value, "request");
  const std::uint32_t iterations = request.iterations.value_or(1);
  if (iterations < 1 || iterations > most_iterations)
    throw serve::Refusal{"invalid", fmt::format("iterations must be 1 to {}", most_iterations)};
  Samples answer;
  try {
    const std::unique_ptr<Scenario> scenario = make_scenario(request.row, request.params);
    if (!scenario) throw serve::Refusal{"unsupported", "no row '" + request.row + "'"};
    for (std::uint32_t i = 0; i < iterations; ++i) {
      const auto start = own_memory("VmRSS");
      Sample one = within(std::chrono::milliseconds(*request.params.timeout_ms), *scenario);
      one.bytes = {{"rssStartBytes", start},
                   {"rssEndBytes", own_memory("VmRSS")},
                   {"processMaxRssBytes", own_memory("VmHWM")}};
      answer.samples.push_back(std::move(one));
    }
  } catch (const Error& error) {
    // What the request asks for is right; the machine did not let it be done.
    throw serve::Refusal{
        "failed", error.why().empty() ? error.what() : fmt::format("{} ({})", error.what(), error.why())};
  }
  return json::line(answer);
}

}  // namespace

serve::Handlers handlers() {
  return {{"hello", hello}, {"sample", sample}};
}

void run() {
  serve::serve(handlers());
}

}  // namespace tare::agents_driver
