#include "lab/gateway/readiness.hpp"

#include <algorithm>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "net/http_client.hpp"

namespace tare::lab_gateway {
namespace asio = boost::asio;
namespace {

using namespace std::chrono_literals;

constexpr auto next_try_after = 25ms;
constexpr std::chrono::milliseconds longest_try = 2s;
constexpr std::size_t most_body_bytes = 64 * 1024;

/// One try: nothing when it is ready, else what it answers. The limit is of all of it: one that sends a byte
/// now and then is never silent, and never done.
asio::awaitable<std::optional<Error>> ask_readyz(asio::io_context& io, net::Url http,
                                                 std::chrono::milliseconds limit) {
  const Instant until = std::chrono::steady_clock::now() + limit;
  net::ClientLimits limits;
  limits.connect_time = limits.silence = limit;
  net::HttpClient client(io, std::move(http), limits);
  try {
    net::Request request("GET", "/readyz");
    const auto answer = co_await client.stream(std::move(request));
    std::string body;
    while (body.size() < most_body_bytes) {
      const std::string_view piece = co_await answer->read_by(until);
      if (piece.empty()) break;
      body += piece;
    }
    if (answer->status() == 200) co_return std::nullopt;
    co_return Error(ErrorCode::failed, fmt::format("/readyz answers {}", answer->status()),
                    text::one_line(text::cut(body, 200)));
  } catch (const Error& error) {
    co_return error;
  }
}

}  // namespace

asio::awaitable<void> wait_until_ready(asio::io_context& io, net::Url http, Server* server,
                                       Instant deadline) {
  const std::string place = net::authority(http);
  std::optional<Error> said;  // how it answered last, in time
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const std::chrono::milliseconds limit = std::clamp<std::chrono::milliseconds>(left, 1ms, longest_try);
    const std::optional<Error> answer = co_await ask_readyz(io, http, limit);
    if (!answer) co_return;
    if (!said || answer->code() != ErrorCode::timeout) said = answer;
    if (server != nullptr) {
      co_await server->must_run("become ready");
    } else if (answer->code() == ErrorCode::unavailable) {
      throw Error(ErrorCode::unavailable, "there is no gateway at " + place, answer->what());
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      throw Error(ErrorCode::timeout, fmt::format("the gateway at {} did not become ready in time", place),
                  said->why().empty() ? said->what() : fmt::format("{}: {}", said->what(), said->why()));
    }
    asio::steady_timer pause(io, next_try_after);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

}  // namespace tare::lab_gateway
