#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/gateway/log.hpp"
#include "runtime/gateway/methods.hpp"
#include "runtime/gateway/runner.hpp"
#include "runtime/provider/client.hpp"

namespace tare::gateway {

struct Config {
  std::string bind = "127.0.0.1";
  std::uint16_t port = 18789;
  std::optional<std::string> token;
  std::filesystem::path state;  ///< a folder
  provider::ClientOptions provider;
  RunnerOptions runner;
  MethodLimits methods;
  std::size_t max_connections = 20'000;
  std::size_t max_payload = 25 * 1024 * 1024;
  std::size_t max_buffered = 50 * 1024 * 1024;
  std::chrono::milliseconds handshake_time{10'000};
  std::chrono::milliseconds drain_time{5'000};  ///< for runs to end, once the gateway is told to
  LogLevel log_level = LogLevel::info;
  std::optional<std::filesystem::path> timeline;
};

/// One thing that can be set: as `--name` on the command line, TARE_GATEWAY_NAME in the environment, `name`
/// in the file. The first of them that is there counts, in this order.
struct Setting {
  std::string_view name;  ///< as the flag, without --
  std::string_view placeholder;
  std::string_view help;
  /// `where` names the place in errors: "--port", "TARE_GATEWAY_PORT", "gateway.toml:3: port".
  void (*apply)(Config& config, std::string_view text, std::string_view where);
};
std::span<const Setting> settings();

/// "max-concurrent" is TARE_GATEWAY_MAX_CONCURRENT.
std::string variable_of(const Setting& setting);

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// What was set on the command line, by the name of the setting, over the environment over the file.
/// Throws Error(usage) or Error(input).
Config read_config(const std::map<std::string, std::string>& flags, const Environment& environment,
                   const std::optional<std::filesystem::path>& file);

/// Refuses what would open the gateway to others: no token, and not bound to this machine alone.
void check_exposure(const Config& config);
bool is_loopback(std::string_view address);

}  // namespace tare::gateway
