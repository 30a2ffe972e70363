#pragma once

#include <functional>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "lab/bench/gateway/wakeup.hpp"
#include "lab/gateway/client.hpp"
#include "lab/load/http_requests.hpp"
#include "lab/report/gateway_record.hpp"

namespace tare::gateway_bench {

/// The gate before the load: /readyz, the Control UI and sessions.list all answer, well and within a second,
/// and the event loop is not degraded. The first requests make a gateway load what it loads lazily; that
/// belongs in no figure.
class WarmUp {
 public:
  /// All must outlive this object.
  WarmUp(boost::asio::io_context& io, load::HttpRequests& http, lab_gateway::Client& client, Wakeup& wakeup)
      : io_(io), http_(http), client_(client), wakeup_(wakeup) {}

  /// Tries every 100 ms until it is open: then true. False once the gateway is `lost`, of which `wakeup`
  /// tells. Throws Error(failed) with what was seen last when it is not open within 60 s.
  boost::asio::awaitable<bool> pass(std::function<bool()> lost);
  /// All tries so far.
  const report::ProbeWarmup& record() const { return record_; }

 private:
  boost::asio::awaitable<report::WarmupSample> look(Instant deadline, const std::function<bool()>& lost);

  boost::asio::io_context& io_;
  load::HttpRequests& http_;
  lab_gateway::Client& client_;
  Wakeup& wakeup_;
  report::ProbeWarmup record_;
};

}  // namespace tare::gateway_bench
