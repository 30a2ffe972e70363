#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "net/http_server.hpp"
#include "runtime/gateway/config.hpp"
#include "runtime/gateway/connection.hpp"
#include "runtime/gateway/event_loop_monitor.hpp"
#include "runtime/gateway/log.hpp"
#include "runtime/gateway/sqlite_store.hpp"

namespace tare::gateway {

/// A whole gateway on one io_context: storage, sessions, runs, methods, connections, HTTP.
class Gateway {
 public:
  /// Loads what is kept and listens. Throws Error: for a database that can't be used, an address that is
  /// taken, a token that is missing. Must be destroyed before `io`, with nothing running on it.
  Gateway(boost::asio::io_context& io, const Clock& clock, Config config,
          std::function<void(std::string_view)> log);
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  std::uint16_t port() const { return http_->port(); }
  /// Called once clients are served: what was interrupted last time is marked.
  std::function<void()> on_ready = [] {};

  /// No new runs; those that run may end, for `drain_time`; then every connection is told and closed, and the
  /// io_context has nothing left to do. A second call does not wait for runs.
  void stop(std::string_view why);
  bool is_ready() const { return context_->phase == HandshakePolicy::Phase::ready && !is_stopping_; }

  std::string readiness() const;
  std::string metrics() const;
  const Log& log() const { return log_; }

 private:
  boost::asio::awaitable<void> answer(net::Exchange& exchange);
  boost::asio::awaitable<void> connect(net::Exchange& exchange);
  net::Response page(const net::Request& request) const;
  bool may_see_metrics(const net::Request& request) const;
  void recover(Kept kept);
  void become_ready();
  void trace(std::string_view what);
  void tick();
  void close_all();
  void wait_for_the_end(int turns);

  boost::asio::io_context& io_;
  const Clock& clock_;
  Instant started_;
  Instant traced_;
  std::vector<std::string> trace_;  ///< lines that are not logged yet
  Config config_;
  Log log_;
  Timeline timeline_;
  std::unique_ptr<SqliteStore> store_;
  EventLoopMonitor monitor_;
  Hub hub_;
  Sessions sessions_;
  std::unique_ptr<Transcripts> transcripts_;
  std::unique_ptr<provider::Client> provider_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<Methods> methods_;
  ConnectionFacts connection_facts_;
  std::unique_ptr<ConnectionContext> context_;
  std::list<std::weak_ptr<Connection>> connections_;
  boost::asio::steady_timer tick_timer_;
  boost::asio::steady_timer drain_timer_;
  bool is_stopping_ = false;
  bool is_closed_ = false;
  std::unique_ptr<net::HttpServer> http_;
};

}  // namespace tare::gateway
