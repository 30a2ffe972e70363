#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "lab/bench/gateway/checks.hpp"
#include "lab/bench/gateway/options.hpp"
#include "lab/bench/gateway/wakeup.hpp"
#include "lab/gateway/client.hpp"
#include "lab/load/http_requests.hpp"
#include "lab/load/pacer.hpp"
#include "lab/load/series.hpp"

namespace tare::gateway_bench {

/// What is asked of the gateway again and again while turns run.
enum class Probe : std::uint8_t {
  readyz,
  control_ui,
  sessions_list,
  chat_history,
  messages_subscribe,
  sessions_patch,
  tasks_list,
  cron_list,
  cron_status,
  fresh_connection,
};
inline constexpr std::size_t probe_count = 10;
/// The row of a probe: "sessions_list".
std::string_view row_of(Probe probe);
/// What is asked: "sessions.list".
std::string_view name_of(Probe probe);
/// Those that a run of these options has.
std::vector<Probe> probes_of(const Options& options);

/// What a gateway said of its own event loop. It renews that about once a second; repeats are no reading.
struct EventLoopReading {
  Instant at;
  std::optional<double> delay_p99_ms;
  std::optional<double> delay_max_ms;
  std::optional<double> utilization;
  std::optional<double> cpu_core_ratio;
};

/// Why an answer is not one of a working gateway.
struct Fault {
  enum class Kind : std::uint8_t {
    failed,  ///< none came, or a refusal: a sample that failed
    wrong,   ///< one came that does not answer what was asked: the run is no result
  };
  Kind kind = Kind::failed;
  std::string text;
};
std::optional<Fault> fault_of(Probe probe, const load::HttpAnswer& answer);
std::optional<Fault> fault_of(Probe probe, const lab_gateway::Answer& answer);

/// Who probes. All must outlive the probes.
struct ProbeCrew {
  lab_gateway::Client* sampler = nullptr;
  lab_gateway::Client* subscriber = nullptr;  ///< null where there are no subscribers
  std::vector<lab_gateway::Client*> history = {};
  std::vector<lab_gateway::Client*> updates = {};
  load::HttpRequests* http = nullptr;
  lab_gateway::Address address = {};  ///< for fresh connections
};

/// The probes of one load. One thread.
class Probes {
 public:
  Probes(boost::asio::io_context& io, const Options& options, ProbeCrew crew, Wakeup& wakeup);
  ~Probes();

  void begin();
  /// From now on there is a fresh connection each second, the first one now.
  void begin_fresh_connections();
  /// The work that the probes accompany is over: no more rounds, but for a fixed number of them.
  void wind_down();
  /// No more starts at all.
  void stop();
  /// All patches that the run was to make are answered, or were left out.
  bool updates_done() const;
  /// A fresh connection was begun: however short the load is, there is one.
  bool has_dialled() const;
  /// No round is to come.
  bool rounds_done() const;
  std::size_t open() const { return open_; }
  /// Gives up what is open: it is censored.
  void give_up();

  const load::Series& series(Probe probe) const { return series_[static_cast<std::size_t>(probe)]; }
  const Checks& checks(Probe probe) const { return checks_[static_cast<std::size_t>(probe)]; }
  const std::vector<EventLoopReading>& event_loop() const { return event_loop_; }
  std::uint64_t degraded() const { return degraded_; }
  /// What may not happen to a probe: a patch that fails, or a subscription that does not end.
  const std::optional<std::string>& failure() const { return failure_; }

 private:
  struct Round;
  load::Series& of(Probe probe) { return series_[static_cast<std::size_t>(probe)]; }
  void sample(std::uint64_t index, Instant due);
  void ask_history(std::size_t client, std::uint64_t index, Instant due);
  void patch(std::size_t client, Instant due);
  void http(Probe probe, Instant due, const std::shared_ptr<Round>& round);
  /// False when it was left out.
  bool rpc(Probe probe, lab_gateway::Client& client, const std::string& params, Instant due,
           const std::shared_ptr<Round>& round);
  /// A start is due. False, and it is counted as unsent, when the connection can take no more.
  bool may_start(Probe probe, const lab_gateway::Client& client);
  /// Takes the answer of a probe; whether it is a good one.
  bool take(Probe probe, Instant due, const lab_gateway::Answer& answer);
  void end_update();
  void fail(std::string_view why);
  void subscribe(std::uint64_t index, Instant due, const std::shared_ptr<Round>& round);
  void unsubscribe(const std::string& params, const std::shared_ptr<Round>& round);
  boost::asio::awaitable<void> connect_afresh(Instant due);
  void add(Probe probe, load::Sample sample, std::optional<Fault> fault);
  void read_event_loop(const load::HttpAnswer& answer);

  boost::asio::io_context& io_;
  const Options& options_;
  ProbeCrew crew_;
  Wakeup& wakeup_;
  std::array<load::Series, probe_count> series_;
  std::array<Checks, probe_count> checks_;
  std::unique_ptr<load::Pacer> sampler_;
  std::vector<std::unique_ptr<load::Pacer>> history_;
  std::vector<std::unique_ptr<load::Pacer>> updates_;
  std::unique_ptr<load::Pacer> fresh_;
  std::size_t open_ = 0;
  std::uint64_t next_update_ = 0;
  std::uint64_t updated_ = 0;
  std::vector<EventLoopReading> event_loop_;
  std::string last_event_loop_;
  std::uint64_t degraded_ = 0;
  std::optional<std::string> failure_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  /// Fresh connections that are on their way.
  struct Dialled {
    Instant due;
    Instant sent;
  };
  std::vector<std::shared_ptr<Dialled>> dialled_;
};

}  // namespace tare::gateway_bench
