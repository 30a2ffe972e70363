#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "runtime/gateway/methods.hpp"
#include "runtime/gateway/runner.hpp"
#include "runtime/provider/scripted_for_tests.hpp"

/// For tests: a gateway without a network, a disk or a clock that runs.
namespace tare::gateway {

/// Keeps what it is told in memory, and answers on the loop; fails while it is told to.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(boost::asio::io_context& io) : io_(io) {}

  void write(std::vector<Change> changes, Done done) override {
    ++pending_;
    boost::asio::post(io_, [this, changes = std::move(changes), done = std::move(done)] {
      --pending_;
      if (is_full) {
        done(std::make_exception_ptr(
            Error(ErrorCode::failed, "cannot write db", "the disk is full, or it may not grow")));
        return;
      }
      for (const Change& change : changes) {
        written.push_back(change);
        if (const auto* add = std::get_if<AddMessage>(&change))
          messages_[add->session].push_back(add->message);
        if (const auto* remove = std::get_if<RemoveSession>(&change)) messages_.erase(remove->id);
      }
      done(nullptr);
    });
  }
  std::size_t pending() const override { return pending_; }

  std::vector<Message> messages(SessionId session, std::uint32_t before, Span span) override {
    ++reads;
    std::deque<Message> found;
    const std::vector<Message>& all = messages_[session];
    for (auto message = all.rbegin(); message != all.rend() && found.size() < span.messages; ++message) {
      if (message->seq < before) found.push_front(*message);
    }
    return {found.begin(), found.end()};
  }
  Extent extent(SessionId session) override {
    const std::vector<Message>& all = messages_[session];
    return {all.size(), all.empty() ? 0 : all.back().seq};
  }

  template <class T>
  std::size_t written_of() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        written, [](const Change& change) { return std::holds_alternative<T>(change); }));
  }

  bool is_full = false;
  std::vector<Change> written;
  int reads = 0;

 private:
  boost::asio::io_context& io_;
  std::size_t pending_ = 0;
  std::map<SessionId, std::vector<Message>> messages_;
};

/// A client whose frames are kept.
class TestClient final : public Outlet {
 public:
  explicit TestClient(Hub& hub, std::vector<Scope> scopes = {Scope::read, Scope::write, Scope::admin})
      : hub_(hub) {
    Hello hello;
    for (const Scope scope : scopes) hello.scopes.add(scope);
    client = std::make_shared<Client>("c", hello, *this);
    hub.add(*client);
  }
  ~TestClient() override {
    if (client) hub_.remove(*client);
  }
  void send(std::shared_ptr<const std::string> shared, std::string own) override {
    frames.push_back(json::parse((shared ? *shared : std::string()) + own, "frame"));
  }

  json::Value response(std::string_view id, std::size_t index = 0) const {
    for (const json::Value& frame : frames) {
      if (frame.at("type") == "res" && frame.at("id").as_string() == id && index-- == 0) return frame;
    }
    ADD_FAILURE() << "no response to " << id;
    return {};
  }
  std::size_t responses(std::string_view id) const {
    return static_cast<std::size_t>(std::ranges::count_if(frames, [&](const json::Value& frame) {
      return frame.at("type") == "res" && frame.at("id").as_string() == id;
    }));
  }
  std::vector<json::Value> events(std::string_view name) const {
    std::vector<json::Value> found;
    for (const json::Value& frame : frames) {
      if (frame.at("type") == "event" && frame.at("event").as_string() == name)
        found.push_back(frame.at("payload"));
    }
    return found;
  }
  /// Every frame in a word or two, in order.
  std::vector<std::string> story() const {
    std::vector<std::string> words;
    for (const json::Value& frame : frames) words.push_back(word_of(frame));
    return words;
  }

  std::shared_ptr<Client> client;
  std::vector<json::Value> frames;

 private:
  static std::string text(const json::Value& value) { return std::string(value.as_string()); }
  static std::string word_of(const json::Value& frame) {
    if (frame.at("type") == "res") {
      const std::string id = "res " + text(frame.at("id"));
      if (!frame.at("ok").as_bool()) return id + " " + text(frame.at("error").at("code"));
      const json::Value& payload = frame.at("payload");
      const json::Value* status = payload.is_object() ? payload.get_object().if_contains("status") : nullptr;
      return status == nullptr || !status->is_string() ? id : id + " " + text(*status);
    }
    const std::string event = text(frame.at("event"));
    const json::Value& payload = frame.at("payload");
    if (event == "agent") {
      const std::string stream = text(payload.at("stream"));
      return "agent " + (stream == "lifecycle" ? text(payload.at("data").at("phase")) : stream);
    }
    if (event == "chat") return "chat " + text(payload.at("state"));
    if (event == "task") return "task " + text(payload.at("task").at("status"));
    if (event == "session.message") return event + " " + text(payload.at("message").at("role"));
    if (event == "sessions.changed") return event + " " + text(payload.at("reason"));
    return event;
  }

  Hub& hub_;
};

/// Stands still until a test moves it, and its calendar can be set anew, as that of a machine.
class JumpingClock final : public Clock {
 public:
  Instant now() const override { return still_.now(); }
  WallTime wall() const override { return still_.wall() + jumped_; }
  void advance(Nanoseconds by) { still_.advance(by); }
  void jump(std::chrono::milliseconds by) { jumped_ += by; }

 private:
  ManualClock still_;
  std::chrono::milliseconds jumped_{0};
};

class GatewayTest : public testing::Test {
 protected:
  GatewayTest() { clock.advance(std::chrono::hours(500'000)); }
  ~GatewayTest() override {
    runner.halt();
    run();
  }

  /// Runs until nothing is ready any more.
  void run() {
    io.restart();
    while (io.poll() > 0) {
    }
  }
  /// One request, and all that comes of it.
  json::Value call(TestClient& from, std::string method, json::Value params, std::string id = "1") {
    methods.handle(from.client, RequestFrame{id, std::move(method), std::move(params)});
    run();
    return from.responses(id) > 0 ? from.response(id) : json::Value();
  }
  static json::Object turn(std::string_view session, std::string_view message, std::string_view key) {
    return {{"sessionKey", session}, {"message", message}, {"deliver", false}, {"idempotencyKey", key}};
  }
  static std::string code_of(const json::Value& response) {
    return response.at("ok").as_bool() ? "ok" : std::string(response.at("error").at("code").as_string());
  }

  boost::asio::io_context io{1};
  JumpingClock clock;
  MemoryStore store{io};
  provider::ScriptedProvider provider;
  Hub hub;
  Sessions sessions{ModelName{"openai", "m"}};
  Transcripts transcripts{store, TranscriptLimits{}};
  RunnerOptions options = small_options();
  Runner runner{Runner::Parts{io, clock, store, sessions, transcripts, hub, provider}, options};
  EventLoopMonitor monitor{io, clock};
  Methods methods{Methods::Parts{clock, store, sessions, transcripts, hub, runner, monitor, "state"},
                  MethodLimits{}};

  static RunnerOptions small_options() {
    RunnerOptions small;
    small.max_concurrent = 2;
    small.queue = 3;
    small.held_bytes = 100'000;
    small.reply_bytes = 3 * 1024 * 1024;
    small.waits = 4;
    small.kept_runs = 8;
    small.kept_texts = 2;
    return small;
  }
};

}  // namespace tare::gateway
