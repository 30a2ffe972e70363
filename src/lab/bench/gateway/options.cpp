#include "lab/bench/gateway/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/bench/common/flags.hpp"
#include "net/http.hpp"

namespace tare::gateway_bench {
namespace {

constexpr std::int64_t max_concurrency = 64;  // of OpenClaw
constexpr std::int64_t max_session_count = 10'000;
constexpr std::uint64_t max_history_messages = 100'000;
constexpr std::uint64_t max_history_chars = 256ULL * 1024 * 1024;
constexpr std::string_view session_prefix = "agent:main:gateway-concurrency-";
const std::vector<std::string> known_targets{"embedded", "openclaw", "url"};

[[noreturn]] void refuse(const std::string& what, std::string why = {}, std::string hint = {}) {
  throw Error(ErrorCode::usage, what, std::move(why), std::move(hint));
}

bool has(const Options& options, std::string_view target) {
  return std::ranges::find(options.targets, target) != options.targets.end();
}

double decimal(std::string_view flag, const std::string& text, double low, double high) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < low ||
      value > high)
    refuse(fmt::format("{} must be {} to {}, got {}", flag, low, high, text::one_line(text)));
  return value;
}

std::vector<std::string> targets_of(const RawOptions& raw) {
  std::vector<std::string> targets;
  if (raw.targets) targets = bench::list("--targets", *raw.targets);
  targets.insert(targets.end(), raw.extra_targets.begin(), raw.extra_targets.end());
  if (targets.empty()) targets = {raw.url ? "url" : raw.entry ? "openclaw" : "embedded"};
  for (const std::string& name : targets) {
    if (std::ranges::count(targets, name) > 1) refuse(fmt::format("the gateway '{}' is named twice", name));
    if (std::ranges::find(known_targets, name) != known_targets.end()) continue;
    const auto near = text::did_you_mean(name, known_targets);
    refuse(fmt::format("no gateway named '{}'", text::one_line(name)),
           "known: " + text::join(known_targets, ", "), near ? fmt::format("did you mean '{}'?", *near) : "");
  }
  return targets;
}

void read_numbers(const RawOptions& raw, Options& options) {
  const bool bounded = has(options, "openclaw");
  const auto whole = [](std::string_view flag, const std::optional<std::string>& text, std::uint64_t& value,
                        WholeRange range) {
    if (text) value = bench::number(flag, *text, range);
  };
  const auto optional = [](std::string_view flag, const std::optional<std::string>& text,
                           std::optional<std::uint64_t>& value, WholeRange range) {
    if (text) value = bench::number(flag, *text, range);
  };
  whole("--concurrency", raw.concurrency, options.concurrency,
        {1, bounded ? max_concurrency : max_session_count});
  whole("--turns-per-session", raw.turns_per_session, options.turns_per_session, {1, 100});
  whole("--warm-turns", raw.warm_turns, options.warm_turns, {0, 100});
  whole("--session-count", raw.session_count, options.session_count, {0, max_session_count});
  whole("--history-messages", raw.history_messages, options.history_messages, {0, 500});
  whole("--history-message-chars", raw.history_message_chars, options.history_message_chars, {1, 65'536});
  whole("--subagents", raw.subagents, options.subagents, {0, 20});
  whole("--plugin-count", raw.plugin_count, options.plugin_count, {0, 100});
  whole("--subscribers", raw.subscribers, options.subscribers, {0, max_concurrency});
  whole("--history-clients", raw.history_clients, options.history_clients, {0, max_concurrency});
  whole("--history-burst", raw.history_burst, options.history_burst, {1, 32});
  whole("--session-updates", raw.session_updates, options.session_updates, {0, 100'000});
  whole("--session-update-clients", raw.session_update_clients, options.session_update_clients,
        {1, max_concurrency});
  whole("--runs", raw.runs, options.runs, {1, 20});
  whole("--warmup", raw.warmup, options.warmup, {0, 10});
  whole("--timeout-ms", raw.timeout_ms, options.timeout_ms, {1, 600'000});
  optional("--probe-rounds", raw.probe_rounds, options.probe_rounds,
           {1, static_cast<std::int64_t>(max_samples_per_run)});
  optional("--slo-ms", raw.slo_ms, options.slo_ms, {1, 600'000});
  optional("--max-control-ms", raw.max_control_ms, options.max_control_ms, {1, 30'000});
  optional("--max-handshake-ms", raw.max_handshake_ms, options.max_handshake_ms, {1, 30'000});
  if (raw.stream_chunk_delay_ms)
    options.stream_chunk_delay_ms = decimal("--stream-chunk-delay-ms", *raw.stream_chunk_delay_ms, 0, 30'000);
  if (raw.cadence_ms) options.cadence_ms = decimal("--cadence-ms", *raw.cadence_ms, 0.1, 5'000);
}

/// What only some gateways have.
void check_targets_fit(const RawOptions& raw, const Options& options) {
  const auto needs = [&](bool given, std::string_view flag, std::string_view target) {
    if (given && !has(options, target))
      refuse(fmt::format("{} is for the target {}, which is not part of this run", flag, target));
  };
  needs(raw.url.has_value(), "--url", "url");
  needs(raw.entry.has_value(), "--entry", "openclaw");
  needs(raw.utility_model, "--utility-model", "openclaw");
  needs(options.plugin_count > 0, "--plugin-count", "openclaw");
  if (has(options, "url")) {
    if (!raw.url) refuse("the target url needs --url", "", "say where the gateway is: --url ws://HOST:PORT");
    if (raw.provider_url)
      refuse("--provider-url and the target url exclude each other",
             "a gateway that runs already has its model server");
  }
  if (!has(options, "embedded")) return;
  const auto lacks = [&](bool given, std::string_view flag, std::string_view what) {
    if (given)
      refuse(fmt::format("{} is not for the target embedded", flag),
             fmt::format("the built-in gateway has no {}", what), "--targets openclaw has them");
  };
  lacks(options.tool_events, "--tool-events", "tools");
  lacks(options.subagents > 0, "--subagents", "subagents");
}

void check_history(const Options& options) {
  if (options.probe_rounds &&
      *options.probe_rounds * options.history_clients * options.history_burst > max_samples_per_run)
    refuse(fmt::format("fixed history workload must not exceed {} requests per run", max_samples_per_run),
           "it is --probe-rounds × --history-clients × --history-burst");
  const std::uint64_t messages = options.sessions() * options.history_messages;
  if (messages > max_history_messages || messages * options.history_message_chars > max_history_chars)
    refuse(fmt::format("synthetic history must not exceed {} messages or 256 MiB", max_history_messages),
           fmt::format("{} sessions × {} messages of {} characters", options.sessions(),
                       options.history_messages, options.history_message_chars));
}

}  // namespace

bool Options::prepares_sessions() const {
  return workspace_fanout || session_count > 0 || history_clients > 0 || history_messages > 0 ||
         session_updates > 0 || subscribers > 0;
}

Options resolve(const RawOptions& raw) {
  Options options;
  options.targets = targets_of(raw);
  if (raw.quick) {
    options.quick = true;
    options.stream_chunk_delay_ms = 100;
    options.control_plane = true;
  }
  read_numbers(raw, options);
  if (raw.cold) {
    if (raw.warm_turns) refuse("--cold and --warm-turns exclude each other");
    options.warm_turns = 0;
  }
  options.workspace_fanout = raw.workspace_fanout;
  options.tool_events = raw.tool_events;
  options.visible_observer = raw.visible_observer;
  options.control_plane |= raw.control_plane;
  options.closed_loop = raw.closed_loop;
  options.diagnostics_timeline = !raw.no_diagnostics_timeline;
  options.utility_model = raw.utility_model;
  options.entry = raw.entry;
  options.url = raw.url;
  options.provider_url = raw.provider_url;
  if (raw.seed) options.seed = bench::seed_number(*raw.seed);
  if (options.provider_url) net::parse_url(*options.provider_url, "--provider-url");
  check_targets_fit(raw, options);
  check_history(options);
  return options;
}

std::string session_key(std::uint64_t session) {
  return fmt::format("{}{}", session_prefix, session + 1);
}

std::optional<std::uint64_t> session_of(std::string_view key) {
  if (!key.starts_with(session_prefix)) return std::nullopt;
  const std::string_view digits = key.substr(session_prefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || number == 0) return std::nullopt;
  return number - 1;
}

}  // namespace tare::gateway_bench
