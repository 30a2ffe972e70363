#include <cstdlib>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "base/json.hpp"
#include "runtime/gateway/serve.hpp"
#include "serve_command.hpp"

namespace tare::cli {
namespace {

/// The line that says that clients are served.
struct Serving {
  std::string event = "ready";
  std::string url;
  std::uint16_t port = 0;
  std::int64_t pid = 0;
};
BOOST_DESCRIBE_STRUCT(Serving, (), (event, url, port, pid))

struct GatewayFlags {
  std::map<std::string, std::optional<std::string>> values;  ///< by the name of the setting
  std::optional<std::string> config;

  std::map<std::string, std::string> given() const {
    std::map<std::string, std::string> found;
    for (const auto& [name, value] : values) {
      if (value) found.emplace(name, *value);
    }
    return found;
  }
};

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

int serve_gateway(const GatewayFlags& flags, Context& context) {
  std::optional<std::filesystem::path> file;
  if (flags.config) {
    file = *flags.config;
  } else if (const auto path = variable("TARE_GATEWAY_CONFIG")) {
    file = *path;
  }
  gateway::Config config = gateway::read_config(flags.given(), variable, file);
  const std::string host =
      config.bind.find(':') == std::string::npos ? config.bind : fmt::format("[{}]", config.bind);
  gateway::serve(
      std::move(config),
      [&](std::uint16_t port) {
        write_stdout(json::line(Serving{
                         .url = fmt::format("ws://{}:{}", host, port), .port = port, .pid = ::getpid()}) +
                     "\n");
      },
      [outlet = std::make_shared<gateway::LogOutlet>(context.clock, STDERR_FILENO)](std::string_view line) {
        outlet->write(line);
      });
  return exit_ok;
}

}  // namespace

void add_serve_gateway(CLI::App& serve, Context& context) {
  auto flags = std::make_shared<GatewayFlags>();
  CLI::App* command =
      serve.add_subcommand("gateway", "The built-in gateway: sessions of agents for clients over WebSocket");
  for (const gateway::Setting& setting : gateway::settings()) {
    add_text(*command, fmt::format("--{}", setting.name), flags->values[std::string(setting.name)],
             std::string(setting.help), std::string(setting.placeholder));
  }
  add_text(*command, "--config", flags->config,
           "TOML file with any of these, named as the flags are without their dashes", "FILE");
  command->footer(
      "A flag counts over TARE_GATEWAY_FLAG_NAME of the environment, and that over the file.\n"
      "\n"
      "Once clients are served it prints one line: "
      "{\"event\":\"ready\",\"url\":\"ws://127.0.0.1:PORT\",...}. Its "
      "log is\n"
      "lines of JSON on stderr. SIGTERM lets running turns end and stops it, with exit code 0.\n"
      "Over HTTP: /healthz, /readyz, /metrics. The protocol is in docs/gateway-protocol.md.\n"
      "\n"
      "Examples:\n"
      "  tare serve gateway --state ./state --provider-url http://127.0.0.1:8081/v1\n"
      "  tare serve gateway --config gateway.toml --port 0\n"
      "  tare serve gateway --bind 0.0.0.0 --token-file secret.txt");
  command->callback(
      [flags, &context] { context.action = [flags, &context] { return serve_gateway(*flags, context); }; });
}

}  // namespace tare::cli
