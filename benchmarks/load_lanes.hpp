#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "lab/load/http_requests.hpp"
#include "lab/load/pacer.hpp"
#include "lab/load/series.hpp"
#include "net/http.hpp"
#include "peer.hpp"

/// What the benchmarks of the load generator share.
namespace tare::benchmarks {

/// A helper program of this folder that serves on loopback until this object goes.
class HelperServer {
 public:
  explicit HelperServer(const char* name);
  std::uint16_t port() const { return port_; }
  net::Url url() const { return {"http", "127.0.0.1", port_, "/"}; }

 private:
  Peer peer_;
  std::uint16_t port_;
};

/// Runs the loop until this is so. Throws Broken when it takes over a minute.
void run_loop_until(boost::asio::io_context& io, const std::function<bool()>& so);

/// User and system time of this thread.
Nanoseconds thread_cpu();

/// One path of a server, probed by a schedule. Throws Broken out of the loop for an answer that is not ok.
class Probes {
 public:
  Probes(boost::asio::io_context& io, const net::Url& server, std::string path, load::Schedule schedule);
  void begin() { pacer_.begin(); }
  /// All of its schedule has been started and answered.
  bool done() const { return pacer_.done() && http_.open() == 0; }
  const load::Series& series() const { return series_; }

 private:
  static constexpr std::size_t most_samples = 200'000;
  void probe(Instant due);

  load::HttpRequests http_;
  std::string path_;
  load::Pacer pacer_;
  load::Series series_{most_samples};
};

}  // namespace tare::benchmarks
