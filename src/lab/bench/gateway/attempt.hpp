#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/interrupt.hpp"
#include "lab/bench/gateway/aftermath.hpp"
#include "lab/bench/gateway/checks.hpp"
#include "lab/bench/gateway/options.hpp"
#include "lab/bench/gateway/probes.hpp"
#include "lab/bench/gateway/turns.hpp"
#include "lab/gateway/target.hpp"
#include "lab/report/gateway_record.hpp"

namespace tare::gateway_bench {

/// What one run on one gateway left, also if it ended early: then what was measured until then.
struct Attempt {
  std::string target;
  report::GatewayRun record;
  bool loaded = false;  ///< the load went to its end; without it there is no figure of the load
  Instant load_start{};
  Nanoseconds turns_time{};  ///< from the start of the load to the end of the last turn
  std::vector<std::shared_ptr<Turn>> turns;
  struct Probed {
    load::Series series;
    Checks checks;
  };
  std::map<Probe, Probed> probes;
  load::Series gaps{max_samples_per_run};
  load::Series setup_subscriptions{max_samples_per_run};
  std::vector<EventLoopReading> event_loop;
  Checks turn_checks;
  Checks server_checks;
  ModelRequests model_requests;
  std::optional<std::string> version;  ///< that the gateway says
  std::optional<std::string> failure;  ///< what ended it early, in one line
  std::string tails;                   ///< then: what the servers said last
  std::string position;                ///< where it was: "while seeding sessions"
  bool interrupted = false;
};

/// Where a run is, about once a second.
struct Pulse {
  std::string label;  ///< "under load, 3 s: 8 running, 40 turns/s"
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

struct AttemptRequest {
  const lab_gateway::Target& target;
  const Options& options;
  std::uint64_t run = 0;
  std::uint64_t nonce = 0;  ///< tells its texts from those of all other runs
  const Interrupt& interrupt;
  std::function<void(const Pulse&)> on_pulse;
  std::optional<std::string> provider_key = {};  ///< of a model server that is not the mock
};

/// One run, in the order of the seed: model server, gateway, ready, connect, the gate, seed sessions,
/// clients, warm turns, load, collect, orderly stop. Whatever happens, nothing is left running and no file
/// behind. Never throws for what the gateway does.
Attempt run_once(const AttemptRequest& request);

}  // namespace tare::gateway_bench
