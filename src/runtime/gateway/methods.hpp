#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "runtime/gateway/event_loop_monitor.hpp"
#include "runtime/gateway/hub.hpp"
#include "runtime/gateway/runner.hpp"
#include "runtime/gateway/sessions.hpp"
#include "runtime/gateway/store.hpp"
#include "runtime/gateway/transcripts.hpp"

namespace tare::gateway {

struct MethodLimits {
  std::size_t max_sessions = 100'000;
  std::size_t pending_writes = 20'000;  ///< beyond them, what would write is refused
  std::size_t list_rows = 1'000;
  std::size_t history_messages = 1'000;
  std::size_t history_bytes = 4 * 1024 * 1024;  ///< of texts, in one answer
  std::size_t list_bytes = 4 * 1024 * 1024;     ///< of rows, in one answer
  std::size_t key_bytes = 512;                  ///< of keys, agents and labels
  std::size_t path_bytes = 4096;
  std::size_t subscriptions = 20'000;              ///< of one connection, to messages
  std::size_t injected_bytes = 256 * 1024 * 1024;  ///< of injected messages that are not on disk yet
};

/// What can be asked of the gateway. Each method has a scope and a closed schema.
class Methods {
 public:
  struct Parts {
    const Clock& clock;
    Store& store;
    Sessions& sessions;
    Transcripts& transcripts;
    Hub& hub;
    Runner& runner;
    const EventLoopMonitor& monitor;
    std::string state_path;  ///< told by sessions.patch
  };
  Methods(Parts parts, MethodLimits limits);

  /// Answers a request, now or later.
  void handle(const std::shared_ptr<Client>& client, const RequestFrame& frame);

  /// A connection is gone.
  void leave(Client& client) { parts_.runner.leave(client); }

  /// The object `features` of hello-ok.
  static std::string features();

  /// What was asked for so far, by method.
  struct Count {
    std::uint64_t requests = 0;
    std::uint64_t refused = 0;
  };
  const std::map<std::string_view, Count>& counts() const { return counts_; }
  Millis uptime() const { return now() - started_; }

 private:
  struct Entry;
  static std::span<const Entry> table();
  using Params = json::Value;

  void subscribe_sessions(const Call& call, const Params& params);
  void unsubscribe_sessions(const Call& call, const Params& params);
  void subscribe_messages(const Call& call, const Params& params);
  void unsubscribe_messages(const Call& call, const Params& params);
  void observer_visibility(const Call& call, const Params& params);
  void create_session(const Call& call, const Params& params);
  void list_sessions(const Call& call, const Params& params);
  void patch_session(const Call& call, const Params& params);
  void describe_session(const Call& call, const Params& params);
  void delete_session(const Call& call, const Params& params);
  void inject(const Call& call, const Params& params);
  void history(const Call& call, const Params& params);
  void agent(const Call& call, const Params& params);
  void wait(const Call& call, const Params& params);
  void abort(const Call& call, const Params& params);
  void tasks(const Call& call, const Params& params);
  void cron_list(const Call& call, const Params& params);
  void cron_status(const Call& call, const Params& params);
  void cron_change(const Call& call, const Params& params);
  void status(const Call& call, const Params& params);
  void health(const Call& call, const Params& params);

  Millis now() const { return parts_.clock.wall().time_since_epoch().count(); }
  std::shared_ptr<Session> existing(std::string_view key) const;
  std::string_view key_of(const Params& params, std::string_view member) const;
  /// Of an optional member. Throws Refusal for one that is longer than `most` bytes.
  std::optional<std::string_view> short_text_of(const Params& params, std::string_view member,
                                                std::size_t most) const;
  void check_room() const;
  /// Writes; `done` is for when it is on disk, and a failure is answered.
  void write(const Call& call, std::vector<Change> changes, std::function<void()> done);
  void changed(Session& session, std::string_view reason);
  std::string created(const Session& session) const;

  Parts parts_;
  MethodLimits limits_;
  Millis started_;
  std::map<std::string_view, Count> counts_;
  std::size_t injected_ = 0;
};

}  // namespace tare::gateway
