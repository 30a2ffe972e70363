#include "lab/gateway/target.hpp"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/version.hpp"
#include "lab/driver/registry.hpp"
#include "lab/gateway/frame.hpp"
#include "lab/gateway/gateways.hpp"
#include "lab/gateway/readiness.hpp"

namespace tare::lab_gateway {
namespace {

namespace asio = boost::asio;

Target find_url(const TargetWish& wish) {
  if (!wish.url) throw Error(ErrorCode::usage, "the target url needs --url", {}, "--url ws://HOST:PORT");
  Address address{net::parse_url(*wish.url, "--url"), wish.token};
  if (address.url.scheme != "ws" && address.url.scheme != "wss") {
    throw Error(ErrorCode::usage, fmt::format("--url '{}' is not a WebSocket URL", *wish.url), {},
                "ws://HOST:PORT is one");
  }
  if (address.url.scheme == "wss") {
    throw Error(ErrorCode::usage, fmt::format("--url '{}' is not for the bench", *wish.url),
                "its probes are plain HTTP, as TLS would be measured with the gateway",
                "ws://HOST:PORT of the gateway itself, or of a tunnel to it");
  }
  return {TargetKind::url, "url", {}, {}, {}, std::move(address)};
}

/// One that runs already.
class UrlGateway final : public Gateway {
 public:
  UrlGateway(asio::io_context& io, Target target)
      : io_(io), address_(std::move(target.address.value())), http_(address_.url) {
    http_.scheme = "http";
    http_.path = "/";
  }
  asio::awaitable<void> start(Instant deadline) override {
    return wait_until_ready(io_, http_, nullptr, deadline);
  }
  const Address& address() const override { return address_; }
  const net::Url& http() const override { return http_; }
  Server* server() override { return nullptr; }

 private:
  asio::io_context& io_;
  Address address_;
  net::Url http_;
};

}  // namespace

std::filesystem::path tare_program() {
  std::filesystem::path program = driver::RegistryOptions().bin / "tare";
  std::error_code error;
  if (!std::filesystem::exists(program, error))
    throw Error(ErrorCode::unavailable, program.string() + " is missing", {}, "install Tare again");
  return program;
}

std::map<std::string, std::string> plain_environment() {
  std::map<std::string, std::string> environment;
  for (const char* name : {"PATH", "HOME", "TMPDIR", "LANG", "XDG_CACHE_HOME", "SSL_CERT_FILE"}) {
    if (const char* value = std::getenv(name)) environment[name] = value;
  }
  return environment;
}

std::string said_in(const std::string& line, std::string_view name, const std::string& server) {
  auto said = text_of(member(line, name));
  if (!said) throw Error(ErrorCode::failed, server + " did not become ready", "its first line is: " + line);
  return std::move(*said);
}

Target find_target(const TargetWish& wish) {
  switch (wish.kind) {
    case TargetKind::openclaw:
      return find_openclaw(wish);
    case TargetKind::url:
      return find_url(wish);
    case TargetKind::embedded:
      break;
  }
  return {TargetKind::embedded, "embedded", tare_program(), {}, std::string(version()), {}};
}

std::unique_ptr<Gateway> make_gateway(asio::io_context& io, const Target& target, GatewaySetup setup) {
  switch (target.kind) {
    case TargetKind::openclaw:
      return make_openclaw(io, target, std::move(setup));
    case TargetKind::url:
      return make_url(io, target);
    case TargetKind::embedded:
      break;
  }
  return make_embedded(io, target, setup);
}

std::unique_ptr<Gateway> make_url(asio::io_context& io, Target target) {
  return std::make_unique<UrlGateway>(io, std::move(target));
}

}  // namespace tare::lab_gateway
