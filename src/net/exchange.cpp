#include "net/exchange.hpp"

#include <array>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "net/handshake.hpp"
#include "net/websocket_impl.hpp"

namespace tare::net {
namespace asio = boost::asio;
namespace {

constexpr std::size_t may_be_behind = 64 * 1024;  ///< bytes that a peer has not taken yet

/// RFC 9110, 5.6.7, in English whatever the locale is.
std::string http_date(std::time_t now) {
  constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm t{};
  gmtime_r(&now, &t);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", days.at(static_cast<std::size_t>(t.tm_wday)),
                     t.tm_mday, months.at(static_cast<std::size_t>(t.tm_mon)), t.tm_year + 1900, t.tm_hour,
                     t.tm_min, t.tm_sec);
}

bool has_no_body(int status) {
  return status / 100 == 1 || status == 204 || status == 304;
}

}  // namespace

ServerExchange::ServerExchange(std::shared_ptr<Stream> stream, Request request, Wishes wishes,
                               std::chrono::milliseconds stall)
    : stream_(std::move(stream)), request_(std::move(request)), wishes_(wishes), stall_(stall) {}

bool ServerExchange::asks_for_websocket() const {
  return request_.method == "GET" && has_token(request_.headers, "Upgrade", "websocket") &&
         has_token(request_.headers, "Connection", "upgrade");
}

void ServerExchange::expect(State state) const {
  if (!stream_->writable()) throw Error(ErrorCode::failed, "the client is gone", stream_->why());
  if (state_ != state) throw Error(ErrorCode::failed, "a request was answered twice, or in the wrong order");
}

void ServerExchange::write_head(int status, const Headers& headers, std::string_view framing) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", status, status_text(status));
  append_headers(head, headers);
  head.append("Date: ").append(http_date(std::time(nullptr))).append("\r\n").append(framing);
  if (!wishes_.keep_alive && status != 101) head.append("Connection: close\r\n");
  if (wishes_.keep_alive && !wishes_.http11) head.append("Connection: keep-alive\r\n");
  stream_->write(head.append("\r\n"));
}

asio::awaitable<void> ServerExchange::respond(Response response) {
  expect(State::unanswered);
  const std::string length =
      has_no_body(response.status) ? "" : fmt::format("Content-Length: {}\r\n", response.body.size());
  write_head(response.status, response.headers, length);
  state_ = State::answered;
  if (request_.method != "HEAD" && !has_no_body(response.status)) stream_->write(response.body);
  co_await stream_->drain(may_be_behind, stall_);
}

asio::awaitable<void> ServerExchange::begin(int status, Headers headers) {
  expect(State::unanswered);
  if (!wishes_.http11) wishes_.keep_alive = false;  // the end of the connection is the end of the body
  write_head(status, headers, wishes_.http11 ? "Transfer-Encoding: chunked\r\n" : "");
  state_ = State::begun;
  co_return;
}

asio::awaitable<void> ServerExchange::chunk(std::string_view bytes) {
  expect(State::begun);
  if (bytes.empty() || request_.method == "HEAD") co_return;
  std::string& out = stream_->output();
  if (wishes_.http11) fmt::format_to(std::back_inserter(out), "{:x}\r\n", bytes.size());
  out.append(bytes);
  if (wishes_.http11) out.append("\r\n");
  if (!co_await stream_->drain(may_be_behind, stall_)) expect(State::begun);
}

asio::awaitable<void> ServerExchange::end() {
  expect(State::begun);
  if (wishes_.http11 && request_.method != "HEAD") stream_->write("0\r\n\r\n");
  state_ = State::answered;
  co_return;
}

void ServerExchange::cut() {
  state_ = State::cut;
  stream_->flush();
  stream_->close();
}

asio::awaitable<WebSocket> ServerExchange::upgrade(WebSocketLimits limits) {
  expect(State::unanswered);
  const auto key = find(request_.headers, "Sec-WebSocket-Key");
  if (!asks_for_websocket() || !wishes_.http11)
    co_await refuse_upgrade(400, "this is no request for a WebSocket");
  if (find(request_.headers, "Sec-WebSocket-Version") != "13")
    co_await refuse_upgrade(426, "version 13 is spoken here");
  if (!key || !is_websocket_key(*key)) co_await refuse_upgrade(400, "no Sec-WebSocket-Key of 16 bytes");
  write_head(
      101, {},
      "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept_key(*key) + "\r\n");
  state_ = State::upgraded;
  co_return WebSocket(std::make_shared<WebSocket::Impl>(stream_, Role::server, limits));
}

asio::awaitable<void> ServerExchange::refuse_upgrade(int status, std::string why) {
  Response refusal{status, {}, why + "\n"};
  if (status == 426) refusal.headers = {{"Sec-WebSocket-Version", "13"}};
  co_await respond(std::move(refusal));
  throw Error(ErrorCode::failed, "a WebSocket was refused", why);
}

void write_refusal(Stream& stream, int status, std::string_view why) {
  stream.write(fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}\n",
      status, status_text(status), why.size() + 1, why));
}

}  // namespace tare::net
