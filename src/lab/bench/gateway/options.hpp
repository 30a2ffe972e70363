#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

#include "base/clock.hpp"

namespace tare::gateway_bench {

/// Of one run and kind of request: what is beyond is in histograms only.
inline constexpr std::size_t max_samples_per_run = 2'048;
/// Text chunks of each reply of the mock model server.
inline constexpr std::size_t reply_chunks = 8;

/// What a run is asked to do: the `config` of its document.
struct Options {
  std::string bench = "gateway";
  std::vector<std::string> targets;  ///< embedded, openclaw, url
  std::uint64_t concurrency = 8;     ///< sessions with a turn at a time
  std::uint64_t turns_per_session = 1;
  std::uint64_t warm_turns = 3;  ///< of each session, before the load, in no figure
  double stream_chunk_delay_ms = 1'000;
  std::uint64_t session_count = 0;  ///< seeded before the load
  std::uint64_t history_messages = 0;
  std::uint64_t history_message_chars = 1'024;
  bool workspace_fanout = false;
  bool tool_events = false;
  std::uint64_t subagents = 0;
  std::uint64_t plugin_count = 0;
  bool visible_observer = false;
  std::uint64_t subscribers = 0;
  std::uint64_t history_clients = 0;
  std::uint64_t history_burst = 5;
  std::uint64_t session_updates = 0;
  std::uint64_t session_update_clients = 4;
  bool control_plane = false;
  double cadence_ms = 100;
  bool closed_loop = false;
  std::optional<std::uint64_t> probe_rounds;
  std::uint64_t runs = 1;
  std::uint64_t warmup = 0;             ///< runs that count for nothing
  std::uint64_t timeout_ms = 120'000;   ///< of start-up, of set-up and of the load, each
  std::optional<std::uint64_t> slo_ms;  ///< a turn within it counts as good
  std::optional<std::uint64_t> max_control_ms;
  std::optional<std::uint64_t> max_handshake_ms;
  bool diagnostics_timeline = true;
  bool utility_model = false;
  std::optional<std::string> provider_url;  ///< instead of the mock model server
  std::optional<std::string> entry;         ///< of another OpenClaw than the installed one
  std::optional<std::string> url;
  std::uint64_t seed = 42;
  bool quick = false;

  std::chrono::milliseconds timeout() const { return std::chrono::milliseconds(timeout_ms); }
  Nanoseconds cadence() const { return Nanoseconds(static_cast<std::int64_t>(cadence_ms * 1e6)); }
  /// Sessions that there are before the load, if any have to be.
  std::uint64_t sessions() const { return std::max(concurrency, session_count); }
  /// Whether sessions are made before the load; else their first turn makes them.
  bool prepares_sessions() const;
  /// Whether what is said is known: a mock of the run's own answers.
  bool is_scripted(std::string_view target) const { return !provider_url && target != "url"; }
};
BOOST_DESCRIBE_STRUCT(Options, (),
                      (bench, targets, concurrency, turns_per_session, warm_turns, stream_chunk_delay_ms,
                       session_count, history_messages, history_message_chars, workspace_fanout, tool_events,
                       subagents, plugin_count, visible_observer, subscribers, history_clients, history_burst,
                       session_updates, session_update_clients, control_plane, cadence_ms, closed_loop,
                       probe_rounds, runs, warmup, timeout_ms, slo_ms, max_control_ms, max_handshake_ms,
                       diagnostics_timeline, utility_model, provider_url, entry, url, seed, quick))

/// The options as a person gave them: the text after each flag, nothing where a flag was not given.
struct RawOptions {
  std::optional<std::string> targets;
  std::vector<std::string> extra_targets;
  std::optional<std::string> concurrency, turns_per_session, warm_turns, stream_chunk_delay_ms, session_count,
      history_messages, history_message_chars, subagents, plugin_count, subscribers, history_clients,
      history_burst, session_updates, session_update_clients, cadence_ms, probe_rounds, runs, warmup,
      timeout_ms, slo_ms, max_control_ms, max_handshake_ms, provider_url, entry, url, seed;
  bool workspace_fanout = false;
  bool tool_events = false;
  bool visible_observer = false;
  bool control_plane = false;
  bool closed_loop = false;
  bool cold = false;
  bool no_diagnostics_timeline = false;
  bool utility_model = false;
  bool quick = false;
};

/// Validates, fills in defaults and lays flags over --quick. Throws Error(usage): one line that names the
/// flag, its range and what was given.
Options resolve(const RawOptions& raw);

/// The key of a session, counted from 0: "agent:main:gateway-concurrency-1".
std::string session_key(std::uint64_t session);
/// The session of such a key; nothing of any other.
std::optional<std::uint64_t> session_of(std::string_view key);

}  // namespace tare::gateway_bench
