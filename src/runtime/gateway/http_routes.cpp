// What Gateway answers over HTTP.
#include <utility>

#include <boost/algorithm/string/predicate.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/version.hpp"
#include "runtime/gateway/device.hpp"
#include "runtime/gateway/gateway.hpp"
#include "runtime/gateway/json_text.hpp"
#include "runtime/gateway/metrics.hpp"

namespace tare::gateway {
namespace {

/// The path without its query.
std::string_view path_of(const net::Request& request) {
  const std::string_view target = request.target;
  return target.substr(0, target.find('?'));
}

/// A page of another site may open a WebSocket to this machine, and says so: only the gateway's own page may.
bool is_own_origin(const net::Request& request) {
  const auto origin = net::find(request.headers, "Origin");
  if (!origin) return true;
  const auto host = net::find(request.headers, "Host");
  const std::size_t scheme = origin->find("://");
  return host && scheme != std::string_view::npos && origin->substr(scheme + 3) == *host;
}

/// Without a token the address is what protects: a name that somebody made point here is not it.
bool is_local_host(const net::Request& request) {
  const auto host = net::find(request.headers, "Host");
  if (!host) return true;
  std::string_view name = *host;
  if (const std::size_t port = name.rfind(':'); port != std::string_view::npos && !name.ends_with(']'))
    name = name.substr(0, port);
  if (name.starts_with('[') && name.ends_with(']')) return is_loopback(name.substr(1, name.size() - 2));
  return boost::algorithm::iequals(name, "localhost") || is_loopback(name);
}

net::Response json_response(int status, std::string body) {
  return {status, {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}}, std::move(body)};
}

net::Response text_response(int status, std::string body) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(body)};
}

constexpr std::string_view front_page = R"(<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Tare gateway</title></head>
<body>
<h1>Tare gateway</h1>
<p>It speaks the gateway protocol, version 4, over WebSocket at this address.</p>
<ul>
<li><a href="healthz">healthz</a></li>
<li><a href="readyz">readyz</a></li>
<li><a href="metrics">metrics</a></li>
</ul>
</body>
</html>
)";

}  // namespace

boost::asio::awaitable<void> Gateway::answer(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  if (!config_.token && !is_local_host(request)) {
    co_await exchange.respond(text_response(403, "this gateway is for its own machine\n"));
    co_return;
  }
  if (exchange.asks_for_websocket()) {
    if (path_of(request) != "/") {
      co_await exchange.respond(text_response(404, "the WebSocket is at /\n"));
    } else if (!is_own_origin(request)) {
      co_await exchange.respond(text_response(403, "not from the page of another site\n"));
    } else {
      co_await connect(exchange);
    }
    co_return;
  }
  co_await exchange.respond(page(request));
}

boost::asio::awaitable<void> Gateway::connect(net::Exchange& exchange) {
  if (is_stopping_) {
    co_await exchange.respond(text_response(503, "the gateway is shutting down\n"));
    co_return;
  }
  net::WebSocketLimits limits;
  limits.message_bytes = unknown_client_bytes;
  limits.buffered_bytes = config_.max_buffered;
  const std::string peer = exchange.peer();
  net::WebSocket socket = co_await exchange.upgrade(limits);
  const auto connection = std::make_shared<Connection>(*context_, std::move(socket), peer);
  const auto place = connections_.insert(connections_.end(), connection);
  co_await connection->run();
  connections_.erase(place);
}

net::Response Gateway::page(const net::Request& request) const {
  if (request.method != "GET" && request.method != "HEAD") {
    net::Response refused = text_response(405, "GET only\n");
    refused.headers.push_back({"Allow", "GET, HEAD"});
    return refused;
  }
  const std::string_view path = path_of(request);
  if (path == "/healthz" || path == "/health") return json_response(200, R"({"ok":true,"status":"live"})");
  if (path == "/readyz" || path == "/ready") return json_response(is_ready() ? 200 : 503, readiness());
  if (path == "/metrics") {
    if (!may_see_metrics(request)) return text_response(401, "the token is needed\n");
    net::Response response{200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, metrics()};
    return response;
  }
  if (path == "/" || path == "/index.html")
    return {200, {{"Content-Type", "text/html; charset=utf-8"}}, std::string(front_page)};
  return text_response(404, "not found\n");
}

bool Gateway::may_see_metrics(const net::Request& request) const {
  if (!config_.token) return true;
  constexpr std::string_view scheme = "Bearer ";
  const auto given = net::find(request.headers, "Authorization");
  return given && given->starts_with(scheme) && equal_secrets(given->substr(scheme.size()), *config_.token);
}

std::string Gateway::readiness() const {
  std::string failing = "[";
  if (context_->phase == HandshakePolicy::Phase::starting) failing += R"("startup-sidecars")";
  if (is_stopping_) failing += failing.size() > 1 ? R"(,"shutting-down")" : R"("shutting-down")";
  failing += ']';
  std::string out;
  ObjectText(out)
      .boolean("ready", is_ready())
      .json("failing", failing)
      .number("uptimeMs", methods_->uptime())
      .json("eventLoop", monitor_.json())
      .close();
  return out;
}

std::string Gateway::metrics() const {
  constexpr auto counter = MetricsText::Type::counter;
  constexpr auto gauge = MetricsText::Type::gauge;
  const auto value = [](auto number) { return static_cast<double>(number); };
  MetricsText text;
  const ConnectionFacts& facts = connection_facts_;
  text.one("connections", gauge, "Open connections, HTTP included", value(http_->connections()));
  text.one("clients", gauge, "Connections that have shaken hands", value(hub_.size()));
  text.one("connections_opened_total", counter, "WebSocket connections", value(facts.opened));
  text.one("connections_refused_total", counter, "Connections beyond --max-connections",
           value(http_->refused()));
  text.one("handshakes_total", counter, "Handshakes that were accepted", value(facts.handshakes));
  text.one("handshakes_refused_total", counter, "Handshakes that were refused", value(facts.refused));
  text.one("clients_dropped_slow_total", counter, "Clients that did not read", value(facts.dropped_slow));
  text.one("events_total", counter, "Events sent", value(hub_.events()));
  text.one("subscriptions", gauge, "Subscriptions to sessions and messages", value(hub_.subscriptions()));
  text.one("sessions", gauge, "Sessions", value(sessions_.size()));
  const RunnerFacts runs = runner_->facts();
  text.one("runs_accepted_total", counter, "Runs accepted", value(runs.accepted));
  text.family("runs_ended_total", counter, "Runs that have ended, by outcome");
  text.sample(value(runs.ok), {{"outcome", "ok"}});
  text.sample(value(runs.failed), {{"outcome", "failed"}});
  text.sample(value(runs.aborted), {{"outcome", "aborted"}});
  text.one("runs_running", gauge, "Runs that run", value(runs.running));
  text.one("runs_queued", gauge, "Runs that wait", value(runs.queued));
  text.one("deltas_total", counter, "Pieces of replies that were sent on", value(runs.deltas));
  text.one("provider_connections", gauge, "Connections to the model server", value(provider_->connections()));
  const SqliteStore::Facts disk = store_->facts();
  text.one("commits_total", counter, "Transactions", value(disk.commits));
  text.one("writes_total", counter, "Writes, of which a transaction has one or more", value(disk.writes));
  text.one("write_failures_total", counter, "Writes that failed", value(disk.failures));
  text.one("commit_seconds_total", counter, "Time in transactions", disk.commit_seconds);
  text.one("writes_pending", gauge, "Writes that are not done", value(store_->pending()));
  text.one("transcript_bytes", gauge, "Messages held in memory", value(transcripts_->bytes()));
  text.one("resident_memory_bytes", gauge, "Resident memory", value(process_memory().rss));
  if (const auto& sample = monitor_.sample()) {
    text.one("event_loop_delay_p99_seconds", gauge, "How late the loop was in the last second",
             sample->delay_p99.count() / 1000);
    text.one("event_loop_delay_max_seconds", gauge, "How late the loop was in the last second, at most",
             sample->delay_max.count() / 1000);
    text.one("event_loop_utilization", gauge, "Share of the last second in which the loop ran",
             sample->utilization);
  }
  text.family("requests_total", counter, "Requests, by method");
  for (const auto& [method, count] : methods_->counts())
    text.sample(value(count.requests), {{"method", method}});
  text.family("requests_refused_total", counter, "Requests that were refused at once, by method");
  for (const auto& [method, count] : methods_->counts())
    text.sample(value(count.refused), {{"method", method}});
  return text.take();
}

}  // namespace tare::gateway
