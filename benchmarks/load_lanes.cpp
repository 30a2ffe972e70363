#include "load_lanes.hpp"

#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/text.hpp"
#include "benchmark.hpp"

namespace tare::benchmarks {
namespace {

constexpr auto loop_limit = std::chrono::minutes(1);

std::uint16_t port_of(Peer& peer, const char* name) {
  const auto port = text::to_int(peer.ask("port"));
  if (!port || *port <= 0 || *port > 65535) throw Broken(fmt::format("{} has no port", name));
  return static_cast<std::uint16_t>(*port);
}

}  // namespace

HelperServer::HelperServer(const char* name) : peer_({helper(name).string()}), port_(port_of(peer_, name)) {}

void run_loop_until(boost::asio::io_context& io, const std::function<bool()>& so) {
  const Instant end = SystemClock().now() + loop_limit;
  while (!so()) {
    if (SystemClock().now() > end) throw Broken("the load takes too long");
    if (io.stopped()) io.restart();
    io.run_one_for(std::chrono::milliseconds(100));
  }
}

Nanoseconds thread_cpu() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const auto time = [](const timeval& value) {
    return std::chrono::seconds(value.tv_sec) + std::chrono::microseconds(value.tv_usec);
  };
  return time(usage.ru_utime) + time(usage.ru_stime);
}

Probes::Probes(boost::asio::io_context& io, const net::Url& server, std::string path, load::Schedule schedule)
    : http_(io, server),
      path_(std::move(path)),
      pacer_(io, schedule, [this](std::uint64_t, Instant due) { probe(due); }) {}

void Probes::probe(Instant due) {
  series_.due();
  const bool sent = http_.get(path_, {}, [this, due](const load::HttpAnswer& answer) {
    if (answer.outcome != load::Outcome::ok || answer.body != "ok")
      throw Broken("a probe was not answered", std::string(answer.error));
    series_.add({due, answer.sent, answer.ended, answer.outcome});
    pacer_.ended();
  });
  if (!sent) series_.unsent();
}

}  // namespace tare::benchmarks
