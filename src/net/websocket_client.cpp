#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "net/handshake.hpp"
#include "net/http_parser.hpp"
#include "net/websocket_impl.hpp"

namespace tare::net {
namespace asio = boost::asio;
namespace {

std::string make_key(Loop& loop) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) {
    for (const unsigned char byte : loop.mask()) bytes += static_cast<char>(byte);
  }
  return base64(bytes);
}

/// Throws Error(failed) unless the answer is the 101 to this key.
void check_answer(const HttpParser& answer, const std::string& place, const std::string& key) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::failed, "no WebSocket at " + place, why);
  };
  if (answer.status != 101) fail(fmt::format("HTTP {} {}", answer.status, status_text(answer.status)));
  if (!has_token(answer.headers, "Upgrade", "websocket") ||
      !has_token(answer.headers, "Connection", "upgrade")) {
    fail("its 101 is not for a WebSocket");
  }
  if (find(answer.headers, "Sec-WebSocket-Accept") != accept_key(key))
    fail("its Sec-WebSocket-Accept is wrong");
  if (find(answer.headers, "Sec-WebSocket-Extensions")) fail("it uses an extension that was not offered");
}

}  // namespace

asio::awaitable<WebSocket> connect_websocket(asio::io_context& io, Url url, Headers headers,
                                             WebSocketLimits limits, std::chrono::milliseconds limit) {
  const Loop::Moment until = std::chrono::steady_clock::now() + limit;
  const std::string key = make_key(Loop::of(io));
  const std::string place = authority(url);
  std::string request = fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: "
      "13\r\n"
      "Sec-WebSocket-Key: {}\r\n",
      url.path, place, key);
  append_headers(request, headers);
  const auto stream = co_await dial(io, url.scheme, url.host, url.port, limit);
  stream->deadline().at(until);
  stream->write(request.append("\r\n"));
  HttpParser answer(HttpParser::Kind::response, {most_header_bytes, most_header_bytes});
  while (!answer.header_done()) {
    if (!co_await stream->fill()) {
      if (stream->timed_out())
        throw Error(ErrorCode::timeout, place + " did not answer within the time limit");
      throw Error(ErrorCode::failed, "no WebSocket at " + place,
                  stream->why().empty() ? "the connection was closed" : stream->why());
    }
    try {
      stream->consume(answer.feed({stream->input().data(), stream->input().size()}));
    } catch (const HttpProblem& problem) {
      throw Error(ErrorCode::failed, "no WebSocket at " + place, problem.why());
    }
  }
  check_answer(answer, place, key);
  stream->deadline().clear();
  co_return WebSocket(std::make_shared<WebSocket::Impl>(stream, Role::client, limits));
}

}  // namespace tare::net
