#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "lab/bench/gateway/attempt.hpp"
#include "lab/bench/gateway/seeding.hpp"
#include "lab/bench/gateway/wakeup.hpp"
#include "lab/bench/gateway/warm_up.hpp"

namespace tare::gateway_bench {

/// The course of one run. One thread, that of its io_context.
class Course {
 public:
  /// All must outlive this object.
  Course(boost::asio::io_context& io, const AttemptRequest& request, Attempt& attempt);
  ~Course();

  /// From the start of the servers to the last figure. Throws what ends the run early; may be cancelled.
  boost::asio::awaitable<void> measure();
  /// Stops what was started, in order, and reads what it left. Not to be cancelled.
  boost::asio::awaitable<void> clean_up();

  /// About once a second: how much memory there is.
  void look();
  Pulse pulse() const;
  /// What the servers said last.
  std::string tails() const;

 private:
  using Client = lab_gateway::Client;

  void enter(std::string phase);
  boost::asio::awaitable<void> start_servers();
  boost::asio::awaitable<void> connect_operators();
  boost::asio::awaitable<void> warm_probes();
  boost::asio::awaitable<void> set_up();
  boost::asio::awaitable<void> seed();
  boost::asio::awaitable<void> subscribe(Instant deadline);
  boost::asio::awaitable<void> warm_turns(Instant deadline);
  boost::asio::awaitable<void> load();
  boost::asio::awaitable<void> run_load(Instant deadline);
  boost::asio::awaitable<void> drain(Instant deadline);
  boost::asio::awaitable<void> collect();
  boost::asio::awaitable<report::GatewayMemory> read_memory();
  boost::asio::awaitable<std::shared_ptr<Client>> connect(Instant deadline);
  boost::asio::awaitable<void> fail_with(std::string what);
  boost::asio::awaitable<void> note_leaks();
  boost::asio::awaitable<void> stop_servers();
  /// All that are connected, but for fresh connections.
  std::vector<Client*> clients() const;
  void read_aftermath();
  void check_requests();
  void note_departure(const lab_gateway::Departure& departure);
  void take_look();

  std::unique_ptr<Turns> make_turns(Turns::Plan plan);
  lab_gateway::Server* server() const { return gateway_ ? gateway_->server() : nullptr; }
  bool scripted() const { return options_.is_scripted(request_.target.id); }
  std::vector<std::uint64_t> turn_sessions() const;

  boost::asio::io_context& io_;
  const AttemptRequest& request_;
  const Options& options_;
  Attempt& attempt_;
  Script script_;
  Wakeup wakeup_;
  file::TemporaryFolder root_{"tare-gateway"};
  Instant begun_;
  std::string phase_;
  std::optional<lab_gateway::Provider> provider_;
  std::unique_ptr<lab_gateway::Gateway> gateway_;
  std::vector<std::shared_ptr<Client>> operators_;
  std::vector<std::shared_ptr<Client>> subscribers_;
  std::shared_ptr<Client> subscription_probe_;
  std::vector<std::shared_ptr<Client>> history_;
  std::vector<std::shared_ptr<Client>> updates_;
  std::unique_ptr<load::HttpRequests> http_;
  std::optional<WarmUp> warm_up_;
  std::unique_ptr<Seeding> seeding_;
  std::unique_ptr<Turns> warm_;
  std::unique_ptr<Turns> turns_;
  std::unique_ptr<Probes> probes_;
  std::optional<std::string> lost_;  ///< the gateway, or a connection to it, was lost
  std::optional<lab_gateway::CpuTime> cpu_before_;
  std::optional<lab_gateway::CpuTime> main_cpu_before_;
  std::optional<process::TreeUsage> usage_before_;
  std::size_t clients_before_ = 0;           ///< connections to the gateway at that moment
  std::optional<std::int64_t> connections_;  ///< as the gateway says
  std::optional<std::int64_t> connections_before_;
  std::optional<std::int64_t> active_runs_;
  std::optional<std::int64_t> active_runs_before_;
  std::optional<WallWindow> window_;
  std::future<std::optional<process::TreeUsage>> looking_;
};

}  // namespace tare::gateway_bench
