#include "runtime/gateway/config.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/flag.hpp"
#include "base/text.hpp"
#include "runtime/gateway/config_file.hpp"

namespace tare::gateway {
namespace {

using Text = std::string_view;

std::size_t count_in(Text where, Text text, WholeRange range) {
  return static_cast<std::size_t>(whole_number(where, text, range));
}

std::chrono::milliseconds time_in(Text where, Text text, std::int64_t least = 0) {
  constexpr std::int64_t a_day = 86'400'000;
  return std::chrono::milliseconds(whole_number(where, text, {least, a_day}));
}

Text filled(Text where, Text text) {
  if (text.empty()) throw Error(ErrorCode::usage, fmt::format("{} is empty", where));
  return text;
}

Text address_in(Text where, Text text) {
  boost::system::error_code error;
  boost::asio::ip::make_address(text, error);
  if (error && text != "localhost")
    throw Error(ErrorCode::usage,
                fmt::format("{} must be an IP address or localhost, got '{}'", where, text));
  return text;
}

/// The secret is in a file, so that it shows neither in a list of processes nor in an environment.
std::string secret_in(Text where, Text path) {
  std::string secret(text::trim(file::read(std::filesystem::path(path), 64 * 1024)));
  if (secret.empty()) throw Error(ErrorCode::input, fmt::format("{} {} is empty", where, path));
  return secret;
}

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

constexpr std::array all_settings{
    Setting{"port", "PORT", "Port to listen on; 0 takes a free one (default 18789)",
            [](Config& c, Text t, Text w) {
              c.port = static_cast<std::uint16_t>(whole_number(w, t, {0, 65'535}));
            }},
    Setting{"bind", "ADDRESS",
            "IP address to listen on (default 127.0.0.1); others than this machine's own need a token",
            [](Config& c, Text t, Text w) { c.bind = address_in(w, t); }},
    Setting{"token", "TOKEN", "Secret that clients must know; better in a file or the environment",
            [](Config& c, Text t, Text w) { c.token = filled(w, t); }},
    Setting{"token-file", "FILE", "File with that secret",
            [](Config& c, Text t, Text w) { c.token = secret_in(w, t); }},
    Setting{"state", "DIR", "Folder of the database (default $XDG_STATE_HOME/tare/gateway)",
            [](Config& c, Text t, Text w) { c.state = filled(w, t); }},
    Setting{"provider-url", "URL", "Model server, with its version (default http://127.0.0.1:11434/v1)",
            [](Config& c, Text t, Text) { c.provider.url = t; }},
    Setting{"provider-api", "API", "What it speaks: responses or chat (default responses)",
            [](Config& c, Text t, Text w) {
              if (!boost::describe::enum_from_string(std::string(t).c_str(), c.provider.dialect))
                throw Error(ErrorCode::usage, fmt::format("{} must be responses or chat, got '{}'", w, t));
            }},
    Setting{"provider-key-file", "FILE", "File with its key (default: OPENAI_API_KEY of the environment)",
            [](Config& c, Text t, Text w) { c.provider.api_key = secret_in(w, t); }},
    Setting{"provider-connections", "N", "Replies at once from it (default: --max-concurrent)",
            [](Config& c, Text t, Text w) { c.provider.connections = count_in(w, t, {1, 10'000}); }},
    Setting{"model", "NAME", "Model to ask for (default gpt-5.6-luna)",
            [](Config& c, Text t, Text w) { c.runner.model = filled(w, t); }},
    Setting{
        "system-file", "FILE", "What the model is told before every conversation",
        [](Config& c, Text t, Text) { c.runner.system = file::read(std::filesystem::path(t), 1024 * 1024); }},
    Setting{"max-concurrent", "N", "Turns at once, over all sessions (default 8)",
            [](Config& c, Text t, Text w) { c.runner.max_concurrent = count_in(w, t, {1, 10'000}); }},
    Setting{"max-queue", "N", "Messages of one session that may wait for their turn (default 64)",
            [](Config& c, Text t, Text w) { c.runner.queue = count_in(w, t, {1, 100'000}); }},
    Setting{"max-sessions", "N", "Sessions (default 100000)",
            [](Config& c, Text t, Text w) {
              c.runner.max_sessions = c.methods.max_sessions = count_in(w, t, {1, 10'000'000});
            }},
    Setting{"max-connections", "N", "Connections; one more is closed at once (default 20000)",
            [](Config& c, Text t, Text w) { c.max_connections = count_in(w, t, {1, 1'000'000}); }},
    Setting{"max-payload", "BYTES", "One message of a client (default 26214400)",
            [](Config& c, Text t, Text w) { c.max_payload = count_in(w, t, {1024, most_bytes}); }},
    Setting{"max-buffered", "BYTES",
            "Unsent to one client; one that is further behind is dropped (default 52428800)",
            [](Config& c, Text t, Text w) { c.max_buffered = count_in(w, t, {64 * 1024, most_bytes}); }},
    Setting{"context-messages", "N", "Messages of a conversation that the model is told (default 40)",
            [](Config& c, Text t, Text w) { c.runner.context.messages = count_in(w, t, {1, 10'000}); }},
    Setting{"turn-timeout-ms", "MS", "Limit of one turn (default 600000)",
            [](Config& c, Text t, Text w) { c.runner.turn_time = c.provider.whole = time_in(w, t, 1); }},
    Setting{"drain-ms", "MS", "Time for running turns to end after SIGTERM (default 5000)",
            [](Config& c, Text t, Text w) { c.drain_time = time_in(w, t); }},
    Setting{"log-level", "LEVEL", "debug, info, warn or error (default info)",
            [](Config& c, Text t, Text w) {
              if (!boost::describe::enum_from_string(std::string(t).c_str(), c.log_level))
                throw Error(ErrorCode::usage,
                            fmt::format("{} must be debug, info, warn or error, got '{}'", w, t));
            }},
    Setting{"timeline", "FILE", "Append diagnostics spans to FILE (openclaw.diagnostics.v1)",
            [](Config& c, Text t, Text w) { c.timeline = std::filesystem::path(filled(w, t)); }},
};

std::filesystem::path default_state(const Environment& environment) {
  if (const auto folder = environment("XDG_STATE_HOME"); folder && !folder->empty())
    return std::filesystem::path(*folder) / "tare" / "gateway";
  const auto home = environment("HOME");
  if (!home || home->empty())
    throw Error(ErrorCode::usage, "no folder for the state", "neither HOME nor XDG_STATE_HOME is set",
                "give --state");
  return std::filesystem::path(*home) / ".local" / "state" / "tare" / "gateway";
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Setting& setting : all_settings) all.emplace_back(setting.name);
  return all;
}

void apply_file(Config& config, const std::filesystem::path& path) {
  for (const FileEntry& entry : read_entries(file::read(path, 1024 * 1024), path.string())) {
    const auto setting = std::ranges::find(all_settings, std::string_view(entry.key), &Setting::name);
    const std::string where = fmt::format("{}:{}: {}", path.string(), entry.line, entry.key);
    if (setting == all_settings.end()) {
      const auto near = text::did_you_mean(entry.key, names());
      throw Error(
          ErrorCode::input, fmt::format("{}:{}: unknown key '{}'", path.string(), entry.line, entry.key), "",
          near ? fmt::format("did you mean '{}'?", *near) : std::string("see `tare serve gateway --help`"));
    }
    setting->apply(config, entry.text, where);
  }
}

}  // namespace

std::span<const Setting> settings() {
  return all_settings;
}

std::string variable_of(const Setting& setting) {
  std::string name = "TARE_GATEWAY_";
  for (const char c : setting.name)
    name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

Config read_config(const std::map<std::string, std::string>& flags, const Environment& environment,
                   const std::optional<std::filesystem::path>& file) {
  Config config;
  config.provider.connections = 0;
  if (file) apply_file(config, *file);
  for (const Setting& setting : all_settings) {
    const std::string name = variable_of(setting);
    if (const auto value = environment(name)) setting.apply(config, *value, name);
  }
  for (const Setting& setting : all_settings) {
    const auto flag = flags.find(std::string(setting.name));
    if (flag != flags.end()) setting.apply(config, flag->second, fmt::format("--{}", setting.name));
  }
  if (config.provider.api_key.empty()) config.provider.api_key = environment("OPENAI_API_KEY").value_or("");
  if (config.provider.connections == 0) config.provider.connections = config.runner.max_concurrent;
  if (config.state.empty()) config.state = default_state(environment);
  if (!config.timeline && environment("OPENCLAW_DIAGNOSTICS") == "timeline") {
    if (const auto path = environment("OPENCLAW_DIAGNOSTICS_TIMELINE_PATH"); path && !path->empty())
      config.timeline = std::filesystem::path(*path);
  }
  return config;
}

bool is_loopback(std::string_view address) {
  if (address == "localhost") return true;
  // "127.0.0.1.example" begins as one does, and is somebody's name.
  boost::system::error_code error;
  const auto ip = boost::asio::ip::make_address(address, error);
  return !error && ip.is_loopback();
}

void check_exposure(const Config& config) {
  if (config.token || is_loopback(config.bind)) return;
  throw Error(ErrorCode::usage, fmt::format("refusing to listen on {} without a token", config.bind),
              "whoever reaches the port could use the gateway", "give --token-file, or bind to 127.0.0.1");
}

}  // namespace tare::gateway
