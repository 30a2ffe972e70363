#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>

#include "lab/driver/packages.hpp"
#include "lab/driver/registry.hpp"
#include "lab/gateway/gateways.hpp"
#include "lab/gateway/readiness.hpp"

namespace tare::lab_gateway {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

constexpr int most_ports = 3;
constexpr std::string_view dispatch_ready = "startup trace: sidecars.ready ";

/// The nearest folder above with a package.json.
fs::path package_of(const fs::path& entry) {
  std::error_code error;
  for (fs::path folder = entry.parent_path();; folder = folder.parent_path()) {
    if (fs::exists(folder / "package.json", error)) return folder;
    if (folder == folder.parent_path()) break;
  }
  throw Error(ErrorCode::usage, fmt::format("--entry '{}' is part of no package", entry.string()),
              "no folder above it has a package.json");
}

fs::path installed_entry() {
  const driver::PackageOptions packages;
  const fs::path entry = packages.cache / "openclaw" / "node_modules" / "openclaw" / "dist" / "entry.js";
  std::error_code error;
  if (driver::is_installed("openclaw", packages) && fs::exists(entry, error)) return entry;
  throw Error(ErrorCode::unavailable, "openclaw is not installed", {},
              "`tare targets install openclaw` (640 MB from npm) installs it");
}

fs::path asked_entry(const fs::path& asked) {
  std::error_code error;
  if (!fs::is_regular_file(asked, error))
    throw Error(ErrorCode::usage, fmt::format("--entry '{}' is not a file", asked.string()),
                error ? error.message() : std::string());
  return fs::canonical(asked);
}

/// One that was free a moment ago.
std::uint16_t free_port(asio::io_context& io) {
  const asio::ip::tcp::acceptor probe(io, {asio::ip::address_v4::loopback(), 0});
  return probe.local_endpoint().port();
}

Launch openclaw_launch(const Target& target, const GatewaySetup& setup, std::uint16_t port) {
  const std::string root = setup.root.string();
  Launch launch;
  launch.name = "the gateway";
  // Node has no way to end with its parent; this program of every Debian asks the kernel for it, and becomes
  // Node.
  if (const fs::path setpriv = file::find_program("setpriv"); !setpriv.empty())
    launch.argv = {setpriv.string(), "--pdeathsig", "TERM"};
  const std::vector<std::string> command{target.node.string(),
                                         target.program.string(),
                                         "gateway",
                                         "run",
                                         "--port",
                                         std::to_string(port),
                                         "--bind",
                                         "loopback",
                                         "--auth",
                                         "none",
                                         "--tailscale",
                                         "off",
                                         "--allow-unconfigured"};
  launch.argv.insert(launch.argv.end(), command.begin(), command.end());
  launch.cwd = package_of(target.program).string();
  launch.env_base = process::EnvBase::empty;
  launch.env = {{"PATH", target.node.parent_path().string() + ":/usr/bin:/bin"},
                {"HOME", root},
                {"OPENCLAW_HOME", root},
                {"OPENCLAW_STATE_DIR", (setup.root / "state").string()},
                {"OPENCLAW_CONFIG_PATH", (setup.root / "config.json").string()},
                {"OPENCLAW_NO_RESPAWN", "1"},
                {"OPENCLAW_SKIP_CHANNELS", "1"},
                {"OPENCLAW_GATEWAY_STARTUP_TRACE", "1"},
                {"OPENAI_API_KEY", setup.provider_key.value_or("any")},
                {"CI", "1"},
                {"NO_COLOR", "1"}};
  if (setup.timeline) {
    launch.env["OPENCLAW_DIAGNOSTICS"] = "timeline";
    launch.env["OPENCLAW_DIAGNOSTICS_TIMELINE_PATH"] = setup.timeline->string();
  }
  launch.watch = {"[diagnostics] failed to write timeline event"};
  return launch;
}

class OpenClawGateway final : public Gateway {
 public:
  OpenClawGateway(asio::io_context& io, Target target, GatewaySetup setup)
      : io_(io), target_(std::move(target)), setup_(std::move(setup)) {}

  asio::awaitable<void> start(Instant deadline) override {
    json::Object config = openclaw_config(setup_);
    if (setup_.plugins > 0) add_plugins(config, setup_);
    file::write_atomically(setup_.root / "config.json", boost::json::serialize(config));
    for (int tries = 1;; ++tries) {
      bool taken = false;
      try {
        co_await start_at(free_port(io_), deadline);
        co_return;
      } catch (const Error&) {
        taken = server_ && (server_->has_said("EADDRINUSE") || server_->has_said("already in use"));
        if (!taken || tries == most_ports) throw;
      }
    }
  }
  const Address& address() const override { return address_; }
  const net::Url& http() const override { return http_; }
  Server* server() override { return server_.get(); }

 private:
  asio::awaitable<void> start_at(std::uint16_t port, Instant deadline) {
    address_.url = net::Url("ws", "127.0.0.1", port, "/");
    http_ = net::Url("http", "127.0.0.1", port, "/");
    server_.reset();
    server_ = std::make_unique<Server>(io_, openclaw_launch(target_, setup_, port));
    co_await wait_until_ready(io_, http_, server_.get(), deadline);
    co_await server_->wait_for_output(std::string(dispatch_ready), "finish its start", deadline);
  }

  asio::io_context& io_;
  Target target_;
  GatewaySetup setup_;
  std::unique_ptr<Server> server_;
  Address address_;
  net::Url http_;
};

}  // namespace

Target find_openclaw(const TargetWish& wish) {
  Target target{TargetKind::openclaw, "openclaw", {}, {}, {}, {}};
  target.program = wish.entry ? asked_entry(*wish.entry) : installed_entry();
  target.node = driver::node_program({});
  std::error_code error;
  if (!fs::exists(target.node, error)) {
    throw Error(ErrorCode::unavailable, fmt::format("node {} is not installed", driver::pinned_node_version),
                {}, "`tare targets install node` (124 MB from npm) installs it");
  }
  const fs::path manifest = package_of(target.program) / "package.json";
  const json::Value package = json::parse(file::read(manifest), manifest.string());
  const json::Object* const object = package.if_object();
  const json::Value* const version = object == nullptr ? nullptr : object->if_contains("version");
  if (version != nullptr && version->is_string()) target.version = std::string(version->get_string());
  return target;
}

std::unique_ptr<Gateway> make_openclaw(asio::io_context& io, Target target, GatewaySetup setup) {
  return std::make_unique<OpenClawGateway>(io, std::move(target), std::move(setup));
}

}  // namespace tare::lab_gateway
