#include "gateway_load.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

namespace tare::benchmarks {
namespace {

namespace asio = boost::asio;

constexpr std::size_t seeds_in_flight = 512;

/// Sends requests 0 to count − 1 of a method, some in flight at a time, until all are answered.
void ask_all(GatewayWorld& world, GatewayClient& client, std::size_t count, std::string_view method,
             const Request& params) {
  std::size_t sent = 0;
  std::size_t answered = 0;
  const std::function<void()> more = [&] {
    while (sent < count && sent - answered < seeds_in_flight) {
      client.ask(method, params(sent++), [&](std::string_view, Instant) {
        ++answered;
        more();
      });
    }
  };
  more();
  world.run_until([&] { return answered == count; });
}

}  // namespace

std::string session_key(std::size_t session) {
  return fmt::format("agent:main:s-{:05}", session);
}

std::string seeded_message(std::size_t session, std::size_t message) {
  return fmt::format("message {} of session {}: {}", message, session, std::string(120, 'x'));
}

void seed_sessions(GatewayWorld& world, GatewayClient& client, std::size_t first, std::size_t end,
                   std::size_t messages) {
  const std::size_t count = end - first;
  ask_all(world, client, count, "sessions.create", [&](std::size_t i) {
    return fmt::format(R"({{"key":"{}","agentId":"main"}})", session_key(first + i));
  });
  ask_all(world, client, count * messages, "chat.inject", [&](std::size_t i) {
    const std::size_t session = first + i / messages;
    return fmt::format(R"({{"sessionKey":"{}","message":"{}"}})", session_key(session),
                       seeded_message(session, i % messages));
  });
}

void Turns::begin() {
  pending_ = shape_.sessions;
  for (std::size_t i = 0; i < shape_.sessions; ++i)
    asio::co_spawn(world_.io(), begin_later(i), asio::detached);
  world_.run_until([&] { return ended_ >= shape_.sessions || running_ == shape_.sessions; });
}

asio::awaitable<void> Turns::begin_later(std::size_t session) {
  const auto sessions = static_cast<std::int64_t>(shape_.sessions);
  asio::steady_timer timer(world_.io(), shape_.delay * static_cast<std::int64_t>(session) / sessions);
  co_await timer.async_wait(asio::use_awaitable);
  next(session);
}

void Turns::end() {
  ending_ = true;
  world_.run_until([&] { return pending_ == 0; });
}

void Turns::next(std::size_t session) {
  if (ending_) {
    --pending_;
    return;
  }
  const std::string marker = fmt::format("s-{}-{}", shape_.first + session, world_.next_turn());
  auto is_first = std::make_shared<bool>(true);
  client_.ask(
      "agent",
      fmt::format(R"({{"sessionKey":"{}","message":"[[marker:{}]]","deliver":false,"idempotencyKey":"{}"}})",
                  session_key(shape_.first + session), marker, marker),
      [this, session, marker, is_first](std::string_view frame, Instant) {
        if (std::exchange(*is_first, false)) {
          if (frame.find(R"("status":"accepted")") == std::string_view::npos)
            world_.fail("a turn was not accepted", frame);
          ++running_;
          ++accepted_;
          return;
        }
        check(frame, marker);
        --running_;
        ++ended_;
        next(session);
      },
      GatewayClient::Answers::two);
}

void Turns::check(std::string_view frame, std::string_view marker) {
  constexpr std::string_view head = R"("status":"ok","summary":"completed","result":{"payloads":[{"text":")";
  const std::size_t at = frame.find(head);
  const std::size_t begin = at + head.size();
  const std::size_t end = frame.find('"', begin);
  if (at == std::string_view::npos || end == std::string_view::npos)
    return world_.fail("a turn did not end well", frame);
  std::string expected(marker);
  for (unsigned chunk = 2; chunk <= shape_.chunks; ++chunk) expected += fmt::format(" {}", chunk);
  if (without_stamps(frame.substr(begin, end - begin)) != expected)
    world_.fail("a reply is not what the model server said", frame);
}

std::string without_stamps(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stamp = std::min(text.find("{@", at), text.size());
    plain += text.substr(at, stamp - at);
    const std::size_t end = text.find('}', stamp);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return plain;
}

std::vector<double> open_loop(GatewayWorld& world, GatewayClient& client, const OpenLoop& schedule,
                              std::string_view method, const Request& params, const Check& check) {
  std::vector<double> ms;
  ms.reserve(schedule.count);
  world.run([](GatewayWorld& its_world, GatewayClient& its_client, OpenLoop its, std::string_view its_method,
               const Request& its_params, const Check& its_check,
               std::vector<double>& out) -> asio::awaitable<void> {
    const SystemClock clock;
    const Instant begin = clock.now();
    asio::steady_timer timer(its_world.io());
    for (std::size_t i = 0; i < its.count; ++i) {
      timer.expires_at(begin + its.every * static_cast<std::int64_t>(i));
      co_await timer.async_wait(asio::use_awaitable);
      const std::string text = its_params(i);
      const Instant sent = clock.now();
      its_client.ask(its_method, text,
                     [&its_world, &its_check, &out, sent, i](std::string_view frame, Instant at) {
                       out.push_back(to_ms(at - sent));
                       if (!its_check(frame, i)) its_world.fail("an answer is wrong", frame);
                     });
    }
  }(world, client, schedule, method, params, check, ms));
  world.run_until([&] { return ms.size() == schedule.count; });
  return ms;
}

}  // namespace tare::benchmarks
