#include <utility>

#include <fmt/format.h>

#include "lab/gateway/gateways.hpp"
#include "lab/gateway/readiness.hpp"

namespace tare::lab_gateway {
namespace {

namespace asio = boost::asio;

Launch embedded_launch(const Target& target, const GatewaySetup& setup) {
  Launch launch;
  launch.name = "the gateway";
  launch.argv = {target.program.string(),
                 "serve",
                 "gateway",
                 "--end-with-parent",
                 "--port",
                 "0",
                 "--state",
                 (setup.root / "state").string(),
                 "--provider-url",
                 setup.provider_url,
                 "--model",
                 setup.model,
                 "--max-concurrent",
                 std::to_string(setup.max_concurrent),
                 "--provider-connections",
                 std::to_string(setup.provider_connections),
                 "--max-sessions",
                 std::to_string(setup.max_sessions)};
  if (setup.timeline) {
    launch.argv.emplace_back("--timeline");
    launch.argv.push_back(setup.timeline->string());
  }
  launch.env_base = process::EnvBase::empty;
  launch.env = plain_environment();
  if (setup.provider_key) launch.env["OPENAI_API_KEY"] = *setup.provider_key;
  return launch;
}

class EmbeddedGateway final : public Gateway {
 public:
  EmbeddedGateway(asio::io_context& io, const Target& target, const GatewaySetup& setup)
      : io_(io), launch_(embedded_launch(target, setup)) {}

  asio::awaitable<void> start(Instant deadline) override {
    server_ = std::make_unique<Server>(io_, launch_);
    const std::string line = co_await server_->first_line("become ready", deadline);
    address_.url = net::parse_url(said_in(line, "url", launch_.name), launch_.name);
    http_ = address_.url;
    http_.scheme = "http";
    co_await wait_until_ready(io_, http_, server_.get(), deadline);
  }
  const Address& address() const override { return address_; }
  const net::Url& http() const override { return http_; }
  Server* server() override { return server_.get(); }

 private:
  asio::io_context& io_;
  Launch launch_;
  std::unique_ptr<Server> server_;
  Address address_;
  net::Url http_;
};

}  // namespace

std::unique_ptr<Gateway> make_embedded(asio::io_context& io, const Target& target,
                                       const GatewaySetup& setup) {
  return std::make_unique<EmbeddedGateway>(io, target, setup);
}

}  // namespace tare::lab_gateway
