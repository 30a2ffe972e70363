#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/json.hpp"
#include "lab/gateway/target.hpp"

/// The three kinds of gateways.
namespace tare::lab_gateway {

std::unique_ptr<Gateway> make_embedded(boost::asio::io_context& io, const Target& target,
                                       const GatewaySetup& setup);
std::unique_ptr<Gateway> make_openclaw(boost::asio::io_context& io, Target target, GatewaySetup setup);
std::unique_ptr<Gateway> make_url(boost::asio::io_context& io, Target target);

Target find_openclaw(const TargetWish& wish);

/// What OpenClaw reads at its start, but for the plugins.
json::Object openclaw_config(const GatewaySetup& setup);
/// Makes its plugins that do nothing, a folder each below `root`, and has the configuration load them.
void add_plugins(json::Object& config, const GatewaySetup& setup);

/// The environment of Tare's own servers: little of the caller's, as that could configure them.
std::map<std::string, std::string> plain_environment();
/// This installation's tare. Throws Error(unavailable).
std::filesystem::path tare_program();
/// The member of a line that a server of Tare prints: "url" of its ready line. Throws Error(failed).
std::string said_in(const std::string& line, std::string_view name, const std::string& server);

}  // namespace tare::lab_gateway
