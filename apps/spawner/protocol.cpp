#include "spawner/protocol.hpp"

#include <map>
#include <vector>

#include <unistd.h>

#include "base/json.hpp"

namespace tare::spawner {
namespace {

constexpr int max_iterations = 100'000;

struct Request {
  std::optional<std::string> row;
  std::optional<Params> params;
  std::optional<int> iterations;
};
BOOST_DESCRIBE_STRUCT(Request, (), (row, params, iterations))

struct Hello {
  std::string protocol;
  std::string name;
  std::string version;
  std::string engine;
  std::int64_t pid = 0;
  std::vector<std::string> rows;
  std::map<std::string, std::string> unavailable;
  bool asynchronous_spawn = false;
  std::optional<std::uint64_t> rss_floor_bytes;
};
BOOST_DESCRIBE_STRUCT(Hello, (),
                      (protocol, name, version, engine, pid, rows, unavailable, asynchronous_spawn,
                       rss_floor_bytes))

struct Samples {
  std::vector<Sample> samples;
};
BOOST_DESCRIBE_STRUCT(Samples, (), (samples))

std::string hello(const Lane& lane, const json::Value& request) {
  serve::check_protocol(request);
  return json::line(Hello{std::string(serve::protocol), lane.name(), TARE_VERSION, "none", ::getpid(),
                          lane.rows(), lane.unavailable(), false, own_peak_rss_bytes()});
}

std::string sample(const Lane& lane, const json::Value& value) {
  const auto request = json::read<Request>(value, "request");
  if (!request.row) throw serve::Refusal{"invalid", "row is missing"};
  const int iterations = request.iterations.value_or(1);
  if (iterations < 1 || iterations > max_iterations) {
    throw serve::Refusal{"invalid", "iterations must be 1 to " + std::to_string(max_iterations)};
  }
  const Params params = request.params.value_or(Params{});
  Samples answer;
  std::size_t output = 0;
  for (int i = 0; i < iterations; ++i) {
    answer.samples.push_back(lane.sample(*request.row, params));
    output += answer.samples.back().output.value_or("").size();
    if (output > serve::line_limit)
      throw serve::Refusal{"invalid", "the outputs do not fit a line; ask for fewer iterations"};
  }
  return json::line(answer);
}

}  // namespace

serve::Handlers handlers(const Lane& lane) {
  return {{"hello", [&lane](const json::Value& request) { return hello(lane, request); }},
          {"sample", [&lane](const json::Value& request) { return sample(lane, request); }}};
}

}  // namespace tare::spawner
