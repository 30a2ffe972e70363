#include "lab/gateway/target.hpp"

#include <cstdlib>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "lab/gateway/gateways.hpp"
#include "lab/gateway/readiness.hpp"
#include "net/loopback_for_tests.hpp"

namespace tare::lab_gateway {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;

Instant in_time() {
  return std::chrono::steady_clock::now() + 8s;
}

std::string line_of(const std::function<void()>& work) {
  try {
    work();
    return "none";
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.exit_code())) + " " + error.line();
  }
}

struct TargetTest : testing::Test, net::Loopback {
  file::TemporaryFolder folder{"target"};
  std::vector<int> statuses{200};  ///< of /readyz; the last one stays
  int asked = 0;
  net::HttpServer http{io, "127.0.0.1", 0, {}, [this](net::Exchange& exchange) -> asio::awaitable<void> {
                         EXPECT_EQ(exchange.request().target, "/readyz");
                         const auto index =
                             std::min<std::size_t>(static_cast<std::size_t>(asked++), statuses.size() - 1);
                         net::Response response(statuses[index], {}, "not yet");
                         co_await exchange.respond(std::move(response));
                       }};

  /// A program that does this, with what it was started with in the file "argv" and its environment in "env".
  fs::path program(const std::string& script) {
    const fs::path path = folder.path() / "program";
    std::ofstream(path) << "#!/bin/sh\necho \"$@\" >> '" << (folder.path() / "argv").string() << "'\nenv > '"
                        << (folder.path() / "env").string() << "'\n"
                        << script << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  std::string written(const char* name) { return file::read(folder.path() / name); }
  net::Url server_url(std::string scheme = "http") const {
    return {std::move(scheme), "127.0.0.1", http.port(), "/"};
  }
  GatewaySetup setup() {
    GatewaySetup setup;
    setup.root = folder.path();
    setup.provider_url = "http://127.0.0.1:9/v1";
    setup.timeline = folder.path() / "timeline";
    return setup;
  }
  std::string ready_line() {
    return R"(echo '{"event":"ready","url":"ws://127.0.0.1:)" + std::to_string(http.port()) + R"("}'; )";
  }
};

using Readiness = TargetTest;
using Embedded = TargetTest;
using OpenClaw = TargetTest;

TEST_F(Readiness, AsksUntilItIsReady) {
  statuses = {503, 503, 200};
  run(wait_until_ready(io, server_url(), nullptr, in_time()));
  EXPECT_EQ(asked, 3);
}

TEST_F(Readiness, EndsAtItsDeadlineWithTheLastAnswer) {
  statuses = {503};
  const Instant soon = std::chrono::steady_clock::now() + 5ms;
  EXPECT_THAT(line_of([&] { run(wait_until_ready(io, server_url(), nullptr, soon)); }),
              HasSubstr("did not become ready in time (/readyz answers 503: not yet)"));
}

TEST_F(Readiness, AnAnswerWithoutEndIsOverAtTheDeadline) {
  net::HttpServer trickle(io, "127.0.0.1", 0, {}, [&](net::Exchange& exchange) -> asio::awaitable<void> {
    asio::steady_timer next(io);
    co_await exchange.begin(503, {});
    for (;;) {
      co_await exchange.chunk("x");
      next.expires_after(1ms);
      co_await next.async_wait(asio::use_awaitable);
    }
  });
  trickle.on_error([](const std::string&) {});
  const Instant soon = std::chrono::steady_clock::now() + 50ms;
  const net::Url url("http", "127.0.0.1", trickle.port(), "/");
  EXPECT_THAT(line_of([&] { run(wait_until_ready(io, url, nullptr, soon)); }),
              HasSubstr("did not become ready in time"));
}

TEST_F(Readiness, WhereNobodyIsItIsUnavailable) {
  http.close();
  EXPECT_THAT(line_of([&] { run(wait_until_ready(io, server_url(), nullptr, in_time())); }),
              AllOf(HasSubstr("2 tare: there is no gateway at 127.0.0.1:")));
}

TEST_F(Readiness, AServerThatEndsIsNamed) {
  statuses = {503};
  Server server(io, {"the gateway", {"/bin/sh", "-c", "echo broken >&2; exit 7"}, {}});
  EXPECT_THAT(line_of([&] { run(wait_until_ready(io, server_url(), &server, in_time())); }),
              HasSubstr("the gateway did not become ready (exit code 7; its last words: broken)"));
}

TEST_F(Embedded, IsStartedWithItsFlagsAndLittleOfTheEnvironment) {
  ::setenv("TARE_GATEWAY_TOKEN", "of the caller", 1);
  Target target{TargetKind::embedded, "embedded", program(ready_line() + "exec sleep 1000"), {}, {}, {}};
  const auto gateway = make_gateway(io, target, setup());
  EXPECT_EQ(gateway->server(), nullptr);
  run(gateway->start(in_time()));
  ::unsetenv("TARE_GATEWAY_TOKEN");
  EXPECT_EQ(gateway->address().url.port, http.port());
  EXPECT_EQ(gateway->address().url.scheme, "ws");
  EXPECT_EQ(gateway->http().scheme, "http");
  EXPECT_THAT(written("argv"),
              AllOf(HasSubstr("serve gateway --end-with-parent --port 0 "),
                    HasSubstr("--provider-url http://127.0.0.1:9/v1 "), HasSubstr("--max-concurrent 8 "),
                    HasSubstr("--provider-connections 64 "), HasSubstr("--max-sessions 10000 "),
                    HasSubstr("--timeline ")));
  EXPECT_THAT(written("env"), Not(HasSubstr("TARE_GATEWAY_TOKEN")));
  EXPECT_TRUE(gateway->server()->running());
}

TEST_F(Embedded, WhatItSaysWhenItFailsIsTold) {
  Target target{TargetKind::embedded, "embedded", program("echo 'no disk' >&2; exit 2"), {}, {}, {}};
  const auto gateway = make_gateway(io, target, setup());
  EXPECT_THAT(line_of([&] { run(gateway->start(in_time())); }),
              HasSubstr("exit code 2; its last words: no disk"));
  ASSERT_NE(gateway->server(), nullptr);
  EXPECT_EQ(gateway->server()->stderr_tail(), "no disk\n");
  target.program = program("echo hello; exec sleep 1000");
  const auto stranger = make_gateway(io, target, setup());
  EXPECT_THAT(line_of([&] { run(stranger->start(in_time())); }), HasSubstr("its first line is: hello"));
}

TEST_F(OpenClaw, TriesAnotherPortWhenItsOwnIsTaken) {
  std::ofstream(folder.path() / "package.json") << R"({"version":"1.2.3"})";
  const fs::path node = program("echo 'Error: listen EADDRINUSE' >&2; exit 1");
  const fs::path entry = folder.path() / "entry.js";
  std::ofstream(entry) << "";
  const auto gateway = make_gateway(io, {TargetKind::openclaw, "openclaw", entry, node, {}, {}}, setup());
  EXPECT_THAT(line_of([&] { run(gateway->start(in_time())); }), HasSubstr("EADDRINUSE"));
  const std::string argv = written("argv");
  std::set<std::string> ports;
  for (const std::string& line : text::split(text::trim(argv), '\n')) {
    const auto words = text::split(line, ' ');
    ASSERT_GT(words.size(), 4U);
    EXPECT_EQ(words[0], entry.string());
    ports.insert(words[4]);
  }
  EXPECT_EQ(std::count(argv.begin(), argv.end(), '\n'), 3);
  EXPECT_GT(ports.size(), 1U);
  const std::string environment = written("env");
  EXPECT_THAT(text::split(environment, '\n'),
              IsSupersetOf({"HOME=" + folder.path().string(), std::string("OPENAI_API_KEY=any"),
                            std::string("OPENCLAW_DIAGNOSTICS=timeline"), "PWD=" + folder.path().string()}));
  EXPECT_THAT(environment, Not(HasSubstr("\nUSER=")));
}

TEST_F(OpenClaw, AnotherFailureIsNotTriedAgain) {
  std::ofstream(folder.path() / "package.json") << "{}";
  const fs::path node = program("exit 1");
  const fs::path entry = folder.path() / "entry.js";
  const auto gateway = make_gateway(io, {TargetKind::openclaw, "openclaw", entry, node, {}, {}}, setup());
  EXPECT_THAT(line_of([&] { run(gateway->start(in_time())); }), HasSubstr("exit code 1"));
  const std::string argv = written("argv");
  EXPECT_EQ(std::count(argv.begin(), argv.end(), '\n'), 1);
}

TEST_F(OpenClaw, ItsConfigurationFollowsTheSetup) {
  GatewaySetup wish = setup();
  json::Object config = openclaw_config(wish);
  const json::Value& defaults = config.at("agents").at("defaults");
  EXPECT_EQ(defaults.at("utilityModel"), "");
  EXPECT_EQ(defaults.at("maxConcurrent"), 8);
  EXPECT_EQ(config.at("models").at("providers").at("openai").at("baseUrl"), "http://127.0.0.1:9/v1");
  EXPECT_FALSE(config.contains("tools"));
  wish.utility_model = wish.tools = true;
  config = openclaw_config(wish);
  EXPECT_EQ(config.at("agents").at("defaults").at("utilityModel"), "openai/gpt-5.6-luna");
  EXPECT_EQ(config.at("tools").at("codeMode"), false);
}

TEST_F(OpenClaw, PluginsAreWrittenAndLoaded) {
  GatewaySetup wish = setup();
  wish.plugins = 2;
  json::Object config = openclaw_config(wish);
  add_plugins(config, wish);
  const json::Value& plugins = config.at("plugins");
  ASSERT_EQ(plugins.at("load").at("paths").as_array().size(), 2U);
  EXPECT_EQ(plugins.at("entries").at("tare-plugin-2").at("enabled"), true);
  EXPECT_EQ(plugins.at("entries").at("browser").at("enabled"), false);
  const fs::path second = plugins.at("load").at("paths").at(1).as_string().c_str();
  EXPECT_EQ(json::parse(file::read(second / "openclaw.plugin.json"), "manifest").at("id"), "tare-plugin-2");
  EXPECT_TRUE(fs::exists(second / "index.js"));
}

TEST(FindTarget, RefusesAnEntryThatIsNone) {
  const file::TemporaryFolder folder("entry");
  const auto find = [](const fs::path& entry) {
    return line_of([&] { find_target({.kind = TargetKind::openclaw, .entry = entry}); });
  };
  EXPECT_THAT(find(folder.path() / "entry.js"), HasSubstr("2 tare: --entry '"));
  EXPECT_THAT(find(folder.path()), HasSubstr("is not a file"));
  std::ofstream(folder.path() / "entry.js") << "";
  EXPECT_THAT(find(folder.path() / "entry.js"), HasSubstr("is part of no package"));
}

TEST(FindTarget, RefusesAUrlThatIsNone) {
  const auto find = [](std::optional<std::string> url) {
    return line_of([&] { find_target({.kind = TargetKind::url, .url = std::move(url)}); });
  };
  EXPECT_THAT(find({}), HasSubstr("2 tare: the target url needs --url"));
  EXPECT_THAT(find("http://127.0.0.1:1/"),
              HasSubstr("2 tare: --url 'http://127.0.0.1:1/' is not a WebSocket URL"));
  EXPECT_THAT(find("127.0.0.1:1"), HasSubstr("2 tare: --url is not a URL"));
  EXPECT_THAT(find("wss://127.0.0.1:1"), HasSubstr("2 tare: --url 'wss://127.0.0.1:1' is not for the bench"));
}

TEST(FindTarget, AUrlHasItsTokenAndItsHttpSide) {
  const Target target = find_target({.kind = TargetKind::url, .url = "ws://example.org/gateway"});
  const Target told = find_target({.kind = TargetKind::url, .url = "ws://localhost", .token = "told"});
  EXPECT_EQ(target.id, "url");
  EXPECT_EQ(target.address->token, std::nullopt);
  EXPECT_EQ(told.address->token, "told");
  asio::io_context io;
  const auto gateway = make_gateway(io, target, {});
  EXPECT_EQ(gateway->address().url.path, "/gateway");
  EXPECT_EQ(gateway->http().scheme, "http");
  EXPECT_EQ(gateway->http().path, "/");
  EXPECT_EQ(gateway->http().port, 80);
  EXPECT_EQ(gateway->server(), nullptr);
}

}  // namespace
}  // namespace tare::lab_gateway
