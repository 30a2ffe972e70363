#include "lab/bench/gateway/warm_up.hpp"

#include <algorithm>
#include <memory>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "lab/bench/gateway/probes.hpp"
#include "lab/gateway/frame.hpp"

namespace tare::gateway_bench {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds warm_up_limit{60'000};
constexpr double warm_up_target_ms = 1'000;
constexpr std::chrono::milliseconds warm_up_retry{100};
constexpr std::chrono::milliseconds list_limit{20'000};

bool is_good(const report::WarmupProbe& probe) {
  return probe.ok && probe.latency_ms <= warm_up_target_ms;
}

bool is_open(const report::WarmupSample& sample) {
  return is_good(sample.readyz) && is_good(sample.control_ui) && is_good(sample.sessions_list) &&
         sample.degraded != true;
}

std::string said(std::string_view name, const report::WarmupProbe& probe) {
  return fmt::format("{}: {} in {:.1f} ms", name, probe.ok ? "ok" : probe.error.value_or("failed"),
                     probe.latency_ms);
}

Instant moment() {
  return std::chrono::steady_clock::now();
}

}  // namespace

asio::awaitable<bool> WarmUp::pass(std::function<bool()> lost) {
  const Instant start = moment();
  const Instant deadline = start + warm_up_limit;
  for (;;) {
    const report::WarmupSample sample = co_await look(deadline, lost);
    if (lost()) co_return false;
    record_.samples.push_back(sample);
    record_.duration_ms = to_ms(moment() - start);
    if (is_open(sample)) co_return true;
    if (moment() + warm_up_retry >= deadline) break;
    asio::steady_timer pause(io_, warm_up_retry);
    co_await pause.async_wait(asio::use_awaitable);
  }
  const report::WarmupSample& last = record_.samples.back();
  throw Error(ErrorCode::failed, "gateway probes did not become fast and healthy before concurrent load",
              fmt::format("{}, {}, {}", said("readyz", last.readyz), said("control UI", last.control_ui),
                          said("sessions.list", last.sessions_list)));
}

asio::awaitable<report::WarmupSample> WarmUp::look(Instant deadline, const std::function<bool()>& lost) {
  struct Look {
    report::WarmupSample sample;
    std::size_t answered = 0;
  };
  // Answers may come when this coroutine was told to stop and is gone.
  const auto made = std::make_shared<Look>();
  const auto note = [this, made](report::WarmupProbe& probe, Instant sent, Instant ended,
                                 std::optional<Fault> fault) {
    probe = {!fault, to_ms(ended - sent), fault ? std::optional(fault->text) : std::nullopt};
    made->answered += 1;
    wakeup_.notify();
  };
  const auto ask_http = [&](Probe probe, std::string_view accept, report::WarmupProbe& into) {
    const auto answered = [made, note, probe, &into](const load::HttpAnswer& answer) {
      if (probe == Probe::readyz) {
        const std::string_view degraded = lab_gateway::member(answer.body, "eventLoop.degraded");
        if (degraded == "true" || degraded == "false") made->sample.degraded = degraded == "true";
      }
      note(into, answer.sent, answer.ended, fault_of(probe, answer));
    };
    if (!http_.get(name_of(probe), accept, answered))
      note(into, moment(), moment(), Fault{Fault::Kind::failed, "no connection is free"});
  };
  ask_http(Probe::readyz, "application/json", made->sample.readyz);
  ask_http(Probe::control_ui, "text/html", made->sample.control_ui);
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - moment());
  client_.ask("sessions.list", "{}", std::clamp(left, std::chrono::milliseconds(1), list_limit),
              [made, note](const lab_gateway::Answer& answer) {
                note(made->sample.sessions_list, answer.sent, answer.at,
                     fault_of(Probe::sessions_list, answer));
              });
  co_await wakeup_.until([&] { return made->answered == 3 || lost(); }, Instant::max());
  co_return made->sample;
}

}  // namespace tare::gateway_bench
