#include <fmt/format.h>

#include "base/file.hpp"
#include "lab/gateway/gateways.hpp"

namespace tare::lab_gateway {
namespace {

json::Object agent_runtime() {
  return {{"id", "openclaw"}};
}

json::Object providers(const GatewaySetup& setup) {
  const json::Object model{
      {"id", setup.model},
      {"name", setup.model},
      {"api", "openai-responses"},
      {"agentRuntime", agent_runtime()},
      {"reasoning", false},
      {"input", json::Array{"text", "image"}},
      {"cost", json::Object{{"input", 0}, {"output", 0}, {"cacheRead", 0}, {"cacheWrite", 0}}},
      {"contextWindow", 128'000},
      {"contextTokens", 96'000},
      {"maxTokens", 4096}};
  json::Array models;
  models.emplace_back(model);
  return {{"openai",
           json::Object{
               {"baseUrl", setup.provider_url},
               {"apiKey", json::Object{{"source", "env"}, {"provider", "default"}, {"id", "OPENAI_API_KEY"}}},
               {"api", "openai-responses"},
               {"agentRuntime", agent_runtime()},
               {"request", json::Object{{"allowPrivateNetwork", true}}},
               {"models", std::move(models)}}}};
}

json::Object agent_defaults(const GatewaySetup& setup) {
  const std::string model = "openai/" + setup.model;
  const json::Object parameters{{"transport", "sse"}, {"openaiWsWarmup", false}};
  return {{"model", json::Object{{"primary", model}}},
          {"models",
           json::Object{{model, json::Object{{"agentRuntime", agent_runtime()}, {"params", parameters}}}}},
          {"maxConcurrent", setup.max_concurrent},
          {"heartbeat", json::Object{{"every", "0m"}}},
          {"utilityModel", setup.utility_model ? model : ""}};
}

}  // namespace

json::Object openclaw_config(const GatewaySetup& setup) {
  const json::Object off{{"mode", "off"}};
  json::Object config{
      {"browser", json::Object{{"enabled", false}}},
      {"update", json::Object{{"checkOnStart", false}}},
      {"discovery", json::Object{{"mdns", off}}},
      {"gateway", json::Object{{"mode", "local"},
                               {"bind", "loopback"},
                               {"auth", json::Object{{"mode", "none"}}},
                               {"tailscale", off},
                               {"controlUi", json::Object{{"enabled", true}}}}},
      {"plugins", json::Object{{"enabled", true},
                               {"entries", json::Object{{"browser", json::Object{{"enabled", false}}}}}}},
      {"models", json::Object{{"mode", "merge"},
                              {"catalogRefresh", json::Object{{"enabled", false}}},
                              {"providers", providers(setup)}}},
      {"agents", json::Object{{"defaults", agent_defaults(setup)}}}};
  if (setup.tools) config["tools"] = json::Object{{"codeMode", false}, {"toolSearch", false}};
  return config;
}

void add_plugins(json::Object& config, const GatewaySetup& setup) {
  json::Array paths;
  json::Object& plugins = config.at("plugins").as_object();
  for (std::size_t i = 1; i <= setup.plugins; ++i) {
    const std::string id = fmt::format("tare-plugin-{}", i);
    const std::filesystem::path folder = setup.root / "plugins" / id;
    const json::Object schema{{"type", "object"}, {"additionalProperties", false}};
    const json::Object manifest{
        {"id", id}, {"activation", json::Object{{"onStartup", true}}}, {"configSchema", schema}};
    const json::Object package{{"name", id},
                               {"version", "1.0.0"},
                               {"type", "module"},
                               {"openclaw", json::Object{{"extensions", json::Array{"./index.js"}}}}};
    file::write_atomically(folder / "openclaw.plugin.json", boost::json::serialize(manifest));
    file::write_atomically(folder / "package.json", boost::json::serialize(package));
    file::write_atomically(folder / "index.js",
                           fmt::format("export default {{ id: \"{}\", register() {{}} }};\n", id));
    paths.emplace_back(folder.string());
    plugins.at("entries").as_object()[id] = json::Object{{"enabled", true}};
  }
  plugins["load"] = json::Object{{"paths", std::move(paths)}};
}

}  // namespace tare::lab_gateway
