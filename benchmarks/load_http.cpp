#include <chrono>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "benchmark.hpp"
#include "lab/process/run.hpp"
#include "load_lanes.hpp"
#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::size_t http_connections = 64;
constexpr auto http_block = std::chrono::seconds(1);  // the least that wrk takes

/// Asks on so many connections, each anew as soon as it was answered.
class ClosedLoop {
 public:
  ClosedLoop(boost::asio::io_context& io, const net::Url& server)
      : http_(io, server, {.connections = http_connections}) {}

  void begin() {
    for (std::size_t i = 0; i < http_connections; ++i) ask();
  }
  std::uint64_t answers() const { return answers_; }

 private:
  void ask() {
    http_.get("/fast", {}, [this](const load::HttpAnswer& answer) {
      if (answer.outcome != load::Outcome::ok || answer.body != "ok")
        throw Broken("a request was not answered", std::string(answer.error));
      ++answers_;
      ask();
    });
  }

  load::HttpRequests http_;
  std::uint64_t answers_ = 0;
};

/// Microseconds of this thread for each request.
double tare_us(const net::Url& server) {
  boost::asio::io_context io{1};
  ClosedLoop loop(io, server);
  const Nanoseconds before = thread_cpu();
  loop.begin();
  io.run_for(http_block);
  const Nanoseconds cpu = thread_cpu() - before;
  return to_ms(cpu) * 1e3 / static_cast<double>(loop.answers());
}

/// Microseconds of wrk's process for each request.
double wrk_us(const std::string& program, const net::Url& server) {
  process::RunOptions limits;
  limits.deadline = SystemClock().now() + std::chrono::seconds(30);
  process::SpawnOptions options;
  options.argv = {program, "-t1", fmt::format("-c{}", http_connections),
                  fmt::format("-d{}s", http_block.count()),
                  fmt::format("http://{}/fast", net::authority(server))};
  const process::RunResult result = process::run(options, {}, limits);
  if (!result.exit.ok())
    throw Error(ErrorCode::failed, "wrk ended with " + describe(result.exit), text::tail(result.err, 2, 200));
  // "  123456 requests in 1.00s, 12.3MB read"
  const std::size_t end = result.out.find(" requests in ");
  const std::size_t begin = result.out.rfind('\n', end) + 1;
  const auto requests =
      end == std::string::npos
          ? std::nullopt
          : text::to_int(text::trim(std::string_view(result.out).substr(begin, end - begin)));
  if (!requests || *requests <= 0 || result.out.find("errors") != std::string::npos)
    throw Error(ErrorCode::failed, "wrk was not answered", text::tail(result.out, 3, 300));
  const auto cpu = result.exit.usage.user + result.exit.usage.system;
  return static_cast<double>(cpu.count()) / static_cast<double>(*requests);
}

Measurement measure_http() {
  const std::string program = file::find_program("wrk");
  if (program.empty()) throw Error(ErrorCode::unavailable, "wrk is not installed", "", "apt-get install wrk");
  const HelperServer server("probed_server");
  const std::vector<Lane> lanes{[&] { return tare_us(server.url()); },
                                [&] { return wrk_us(program, server.url()); }};
  const auto figures = interleave(lanes, {.fewest = 8, .most = 20, .limit = std::chrono::seconds(40)});
  Measurement measurement = compared(figures[0], figures[1]);
  measurement.note = fmt::format("{} pairs of a second each, {} connections, one thread", figures[0].size(),
                                 http_connections);
  return measurement;
}

}  // namespace

Benchmark load_http() {
  return {{"load.http",
           "processor time of a client for an HTTP request, 64 connections in a closed loop, against wrk",
           "µs",
           Judged::ratio,
           {{}, 1.1}},
          measure_http};
}

}  // namespace tare::benchmarks
