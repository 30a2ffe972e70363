// How a run ends: what is stopped, and what is read of what the servers left.
#include <algorithm>
#include <csignal>
#include <cstring>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/bench/gateway/course.hpp"

namespace tare::gateway_bench {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds stop_grace{10'000};
constexpr std::chrono::milliseconds leak_patience{1'000};
constexpr std::chrono::milliseconds leak_pause{20};

std::uint64_t whole_micros(Instant at) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count());
}

std::string indented(std::string_view title, const std::string& tail) {
  return tail.empty() ? std::string() : fmt::format("{}:\n{}\n", title, tail);
}

}  // namespace

std::string Course::tails() const {
  std::string text;
  if (const lab_gateway::Server* gateway = server()) {
    const std::string stderr_tail = gateway->stderr_tail();
    text +=
        stderr_tail.empty() ? "gateway stderr tail: (empty)\n" : indented("gateway stderr tail", stderr_tail);
    text += indented("gateway output tail", gateway->output_tail());
  }
  if (provider_) text += indented("mock provider output tail", provider_->server->output_tail());
  return text;
}

asio::awaitable<void> Course::clean_up() {
  if (server() != nullptr) server()->on_exit(nullptr);
  if (probes_) probes_->give_up();
  for (Client* client : clients()) client->drop();
  if (http_) http_->close(load::Outcome::censored);
  if (warm_up_) attempt_.record.probe_warmup = warm_up_->record();
  co_await stop_servers();
  if (attempt_.loaded) read_aftermath();
  attempt_.record.duration_ms = to_ms(std::chrono::steady_clock::now() - begun_);
}

/// What the gateway holds more than before, once its clients have gone: it may take a moment to see that.
asio::awaitable<void> Course::note_leaks() {
  report::Leaks& leaks = attempt_.record.leaks;
  const Instant limit = std::chrono::steady_clock::now() + leak_patience;
  while (attempt_.loaded && usage_before_) {
    const auto usage = server()->usage(process::TreeFields::fds);
    if (!usage) co_return;
    leaks.processes =
        static_cast<std::int64_t>(usage->processes) - static_cast<std::int64_t>(usage_before_->processes);
    // Its connections to the model server stay, and before the first turn there were none.
    if (usage->fds && usage_before_->fds && options_.warm_turns > 0)
      leaks.fds = static_cast<std::int64_t>(*usage->fds + clients_before_) -
                  static_cast<std::int64_t>(*usage_before_->fds);
    const bool is_clean = *leaks.processes <= 0 && leaks.fds.value_or(0) <= 0;
    if (is_clean || std::chrono::steady_clock::now() >= limit) co_return;
    asio::steady_timer pause(io_, leak_pause);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<void> Course::stop_servers() {
  if (lab_gateway::Server* gateway = server()) {
    co_await note_leaks();
    const lab_gateway::Departure departure = co_await gateway->stop(stop_grace);
    note_departure(departure);
  }
  if (provider_) {
    const lab_gateway::Departure departure = co_await provider_->server->stop(stop_grace);
    attempt_.server_checks.check(
        "model_server_left", departure.clean(), [] { return "exit code 0"; },
        [&] { return process::describe(departure.exit); });
  }
}

void Course::note_departure(const lab_gateway::Departure& departure) {
  report::GatewayProcess process;
  process.pid = server()->pid();
  if (departure.exit.code) process.exit_code = *departure.exit.code;
  if (departure.exit.signal)
    process.signal_code = fmt::format("SIG{}", ::sigabbrev_np(*departure.exit.signal));
  process.exit_at_monotonic_micros = whole_micros(departure.exited);
  process.stop_duration_ms = to_ms(departure.took);
  process.clean = departure.clean();
  attempt_.record.gateway_process = process;
  if (!attempt_.loaded) return;
  attempt_.server_checks.check(
      "clean_exit", departure.clean(), [] { return "exit code 0 after SIGTERM"; },
      [&] {
        std::string what = process::describe(departure.exit);
        if (departure.killed) what += ", as it did not leave within 10 s";
        if (departure.strays > 0) what += fmt::format(", {} processes left behind", departure.strays);
        return what;
      });
}

void Course::read_aftermath() {
  report::GatewayRun& record = attempt_.record;
  attempt_.turns = turns_->turns();
  attempt_.gaps = turns_->gaps();
  attempt_.turn_checks = turns_->conclude();
  if (warm_) attempt_.turn_checks.merge(warm_->conclude());
  for (const Probe probe : probes_of(options_))
    attempt_.probes[probe] = {probes_->series(probe), probes_->checks(probe)};
  attempt_.event_loop = probes_->event_loop();
  record.degraded_samples = probes_->degraded();
  record.turn_count = turns_->completed();
  const load::Series& fresh = probes_->series(Probe::fresh_connection);
  record.fresh_connection_failed = fresh.count(load::Outcome::ok) < fresh.ended() || fresh.ended() == 0;
  for (const auto& turn : attempt_.turns) {
    if (turn->completed)
      attempt_.turns_time = std::max(attempt_.turns_time, *turn->completed - attempt_.load_start);
  }
  record.turns_duration_ms = to_ms(attempt_.turns_time);
  std::uint64_t unasked = 0;
  std::uint64_t malformed = 0;
  for (const Client* client : clients()) {
    record.sequence_gaps += client->traffic().sequence_gaps;
    unasked += client->traffic().unasked_responses;
    malformed += client->traffic().malformed_frames;
  }
  attempt_.server_checks.check(
      "one_answer_each", unasked == 0, [] { return "no response that nobody asked for"; },
      [&] { return fmt::to_string(unasked); });
  attempt_.server_checks.check(
      "frames_well_formed", malformed == 0, [] { return "all frames"; },
      [&] { return fmt::format("{} malformed", malformed); });
  check_requests();
  const bool has_timeline =
      options_.diagnostics_timeline && request_.target.kind != lab_gateway::TargetKind::url;
  if (!has_timeline) return;
  if (server()->has_said("[diagnostics] failed to write timeline event"))
    throw Error(ErrorCode::failed, "Gateway reported a diagnostics timeline write failure");
  record.plugin_metadata_scans = read_timeline(root_.path() / "timeline.jsonl", *window_);
}

/// Each turn asks the model once, and once more for the result of its tool.
void Course::check_requests() {
  report::GatewayRun& record = attempt_.record;
  const std::uint64_t rounds = options_.tool_events ? 2 : 1;
  record.expected_model_requests = record.turn_count * rounds;
  if (!provider_) return;
  attempt_.model_requests = read_request_log(root_.path() / "requests.jsonl");
  record.model_request_count = attempt_.model_requests.load;
  const bool counted = !options_.utility_model && options_.subagents == 0;
  if (!counted) return;
  const std::uint64_t warm = warm_ ? warm_->completed() : 0;
  const std::uint64_t expected = record.expected_model_requests + warm;
  attempt_.server_checks.check(
      "model_requests", attempt_.model_requests.all == expected,
      [&] { return fmt::format("{}, warm turns included", expected); },
      [&] { return fmt::to_string(attempt_.model_requests.all); });
}

}  // namespace tare::gateway_bench
