#include "lab/bench/gateway/seeding.hpp"

#include <set>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "lab/gateway/fake_gateway_for_tests.hpp"

namespace tare::gateway_bench {
namespace {

using lab_gateway::FakeGateway;
using lab_gateway::member;
namespace asio = boost::asio;

/// Holds what it hears until there is nothing more to come, and answers it all then.
struct Seeded {
  explicit Seeded(Options wish, std::string refused = "")
      : options(std::move(wish)),
        refused_method(std::move(refused)),
        gateway([this](net::WebSocket& socket) { return serve(socket); }),
        wakeup(gateway.io),
        client(gateway.connect()),
        seeding(*client, options, folder.path(), wakeup) {
    gateway.run_until([this] { return seeding.done(); });
  }

  asio::awaitable<void> serve(net::WebSocket& socket) {
    co_await lab_gateway::greet(socket);
    for (;;) {
      heard.push_back(co_await lab_gateway::hear(socket));
      most_open = std::max(most_open, client ? client->open() : 0);
      if (lab_gateway::text_of(member(heard.back(), "method")) == refused_method) {
        lab_gateway::refuse(socket, heard.back(), R"({"message":"full"})");
      } else {
        lab_gateway::respond(socket, heard.back(), "{}");
      }
    }
  }
  std::vector<std::string> asked(std::string_view method, std::string_view path) const {
    std::vector<std::string> found;
    for (const std::string& text : heard) {
      if (lab_gateway::text_of(member(text, "method")) == method)
        found.push_back(lab_gateway::text_of(member(text, path)).value_or(""));
    }
    return found;
  }

  Options options;
  std::string refused_method;
  file::TemporaryFolder folder{"tare-seeding"};
  std::vector<std::string> heard;
  std::size_t most_open = 0;
  FakeGateway gateway;
  Wakeup wakeup;
  std::shared_ptr<lab_gateway::Client> client;
  Seeding seeding;
};

TEST(Seeding, MakesEachSessionOnceAndSixteenAtATime) {
  Options options;
  options.session_count = 40;
  const Seeded seeded(options);
  const auto keys = seeded.asked("sessions.create", "params.key");
  EXPECT_EQ(keys.size(), 40U);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 40U);
  EXPECT_EQ(seeded.asked("sessions.create", "params.agentId").front(), "main");
  EXPECT_EQ(seeded.most_open, 16U);
  EXPECT_EQ(seeded.seeding.seeded(), 40U);
  EXPECT_EQ(seeded.seeding.failure(), std::nullopt);
}

TEST(Seeding, HistoriesAreInTheirOrder) {
  Options options;
  options.concurrency = 1;
  options.history_messages = 3;
  options.history_message_chars = 22;
  const Seeded seeded(options);
  EXPECT_EQ(seeded.asked("chat.inject", "params.message"),
            (std::vector<std::string>{"Synthetic history 1/1.", "Synthetic history 1/2.",
                                      "Synthetic history 1/3."}));
  EXPECT_EQ(seeded.asked("chat.inject", "params.sessionKey").back(), session_key(0));
}

TEST(Seeding, WorkspacesAreThereAndOfOneSessionEach) {
  Options options;
  options.concurrency = 3;
  options.workspace_fanout = true;
  const Seeded seeded(options);
  const auto folders = seeded.asked("sessions.create", "params.cwd");
  EXPECT_EQ(std::set<std::string>(folders.begin(), folders.end()).size(), 3U);
  for (const std::string& folder : folders) EXPECT_TRUE(std::filesystem::is_directory(folder)) << folder;
}

TEST(Seeding, ARefusalEndsIt) {
  Options options;
  options.history_messages = 1;
  EXPECT_EQ(Seeded(options, "sessions.create").seeding.failure(), "sessions.create failed: full");
  const Seeded seeded(options, "chat.inject");
  EXPECT_EQ(seeded.seeding.failure(), "chat.inject failed: full");
  EXPECT_EQ(seeded.seeding.seeded(), 0U);
}

}  // namespace
}  // namespace tare::gateway_bench
