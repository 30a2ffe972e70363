#include "net/http_server.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "net/exchange.hpp"
#include "net/http_parser.hpp"
#include "net/stream.hpp"

namespace tare::net {
namespace asio = boost::asio;
using asio::ip::tcp;
namespace {

constexpr std::chrono::milliseconds out_of_descriptors{50};
constexpr int body_times = 6;  ///< of `header_time`, for a whole body: one that drips would last for months

tcp::acceptor listen(asio::io_context& io, const std::string& address, std::uint16_t port) {
  try {
    const tcp::endpoint endpoint(asio::ip::make_address(address), port);
    tcp::acceptor acceptor(io, endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen();
    return acceptor;
  } catch (const boost::system::system_error& error) {
    throw Error(ErrorCode::unavailable, fmt::format("cannot listen on {}:{}", address, port),
                error.code().message());
  }
}

/// Throws HttpProblem for a header that cannot be answered; invites the body of who waits for that.
void check_header(const HttpParser& parser, Stream& stream) {
  const auto hosts = std::count_if(parser.headers.begin(), parser.headers.end(),
                                   [](const Header& header) { return find({header}, "Host").has_value(); });
  if (hosts > 1 || (hosts == 0 && parser.is_http11())) throw HttpProblem(400, "one Host header is needed");
  if (parser.is_http11() && !parser.done() && has_token(parser.headers, "Expect", "100-continue")) {
    stream.write("HTTP/1.1 100 Continue\r\n\r\n");
  }
}

}  // namespace

class HttpServer::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& io, const std::string& address, std::uint16_t port, ServerLimits limits,
       Handler handler)
      : io_(io), acceptor_(listen(io, address, port)), limits_(limits), handler_(std::move(handler)) {
    limits_.header_bytes = std::min(limits_.header_bytes, most_header_bytes);
    port_ = acceptor_.local_endpoint().port();
  }

  asio::awaitable<void> accept();
  void stop();
  void close();

  std::function<void(const std::string&)> report;
  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return open_.size(); }
  std::uint64_t refused() const { return refused_; }

 private:
  void admit(tcp::socket socket);
  asio::awaitable<void> serve(std::shared_ptr<Stream> stream);
  asio::awaitable<bool> await_request(std::shared_ptr<Stream> stream);
  asio::awaitable<std::unique_ptr<ServerExchange>> read_request(std::shared_ptr<Stream> stream);
  asio::awaitable<void> answer(ServerExchange& exchange, Stream& stream);

  asio::io_context& io_;
  tcp::acceptor acceptor_;
  ServerLimits limits_;
  Handler handler_;
  std::uint16_t port_ = 0;
  std::unordered_set<Stream*> open_;
  std::unordered_set<Stream*> between_requests_;
  std::uint64_t refused_ = 0;
  bool stopped_ = false;
};

asio::awaitable<void> HttpServer::Impl::accept() {
  while (!stopped_) {
    auto [error, socket] = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
    if (stopped_) break;
    if (!error) {
      admit(std::move(socket));
    } else if (error != asio::error::connection_aborted) {
      asio::steady_timer pause(io_, out_of_descriptors);
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }
}

void HttpServer::Impl::admit(tcp::socket socket) {
  if (open_.size() >= limits_.connections) {
    ++refused_;
    return;
  }
  const auto stream = std::make_shared<Stream>(io_, std::move(socket));
  open_.insert(stream.get());
  stream->on_close([server = weak_from_this(), closed = stream.get()] {
    const auto self = server.lock();
    if (!self) return;
    self->open_.erase(closed);
    self->between_requests_.erase(closed);
  });
  asio::co_spawn(io_, [self = shared_from_this(), stream] { return self->serve(stream); }, asio::detached);
}

asio::awaitable<void> HttpServer::Impl::serve(std::shared_ptr<Stream> stream) {
  for (;;) {
    const std::unique_ptr<ServerExchange> exchange = co_await read_request(stream);
    if (!exchange) co_return;
    co_await answer(*exchange, *stream);
    if (exchange->state() == ServerExchange::State::upgraded) co_return;
    if (!exchange->keeps_alive() || stopped_) {
      if (exchange->state() == ServerExchange::State::answered) {
        stream->finish();
      } else {
        stream->close();
      }
      co_return;
    }
  }
}

/// Until the first byte of a request. False when none will come.
asio::awaitable<bool> HttpServer::Impl::await_request(std::shared_ptr<Stream> stream) {
  if (stopped_) co_return false;
  if (!stream->input().empty()) co_return true;
  between_requests_.insert(stream.get());
  stream->deadline().after(limits_.idle_time);
  const bool more = co_await stream->fill();
  between_requests_.erase(stream.get());
  co_return more && !stopped_;
}

/// Nothing when the connection ends here; the client was told why, where it can be.
asio::awaitable<std::unique_ptr<ServerExchange>> HttpServer::Impl::read_request(
    std::shared_ptr<Stream> stream) {
  if (!co_await await_request(stream)) {
    stream->close();
    co_return nullptr;
  }
  stream->deadline().after(limits_.header_time);
  HttpParser parser(HttpParser::Kind::request, {limits_.header_bytes, limits_.body_bytes});
  try {
    bool checked = false;
    std::optional<Loop::Moment> body_end;
    for (;;) {
      const std::size_t used = parser.feed({stream->input().data(), stream->input().size()});
      stream->consume(used);
      if (parser.header_done() && !std::exchange(checked, true)) check_header(parser, *stream);
      if (parser.done()) break;
      if (used > 0 && !stream->input().empty()) continue;
      if (!co_await stream->fill()) {
        stream->close();
        co_return nullptr;
      }
      if (!parser.header_done()) continue;
      const auto now = std::chrono::steady_clock::now();
      if (!body_end) body_end = now + body_times * limits_.header_time;
      stream->deadline().at(std::min(now + limits_.header_time, *body_end));
    }
  } catch (const HttpProblem& problem) {
    write_refusal(*stream, problem.status(), problem.why());
    stream->finish();
    co_return nullptr;
  } catch (const Error&) {  // a line of a chunk that never ends
    stream->close();
    co_return nullptr;
  }
  stream->deadline().clear();
  const ServerExchange::Wishes wishes{parser.keep_alive(), parser.is_http11()};
  Request request{std::move(parser.method), std::move(parser.target), std::move(parser.headers),
                  std::move(parser.body)};
  co_return std::make_unique<ServerExchange>(std::move(stream), std::move(request), wishes,
                                             limits_.idle_time);
}

asio::awaitable<void> HttpServer::Impl::answer(ServerExchange& exchange, Stream& stream) {
  std::string failure;
  try {
    co_await handler_(exchange);
    if (exchange.state() == ServerExchange::State::unanswered) {
      throw Error(ErrorCode::failed, "a request got no answer");
    }
  } catch (const Closed&) {  // the usual end of a WebSocket
  } catch (const Error& error) {
    failure = error.line();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (exchange.state() == ServerExchange::State::upgraded) {
    if (!failure.empty() && report) report(failure);
    co_return;
  }
  if (!failure.empty() && stream.writable()) {
    if (report) report(failure);
    if (exchange.state() == ServerExchange::State::unanswered) {
      exchange.no_more();
      Response apology{500, {}, "the server failed\n"};
      co_await exchange.respond(std::move(apology));
    }
  }
  if (exchange.state() == ServerExchange::State::begun) exchange.cut();
}

void HttpServer::Impl::stop() {
  stopped_ = true;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  const std::vector<Stream*> idle(between_requests_.begin(), between_requests_.end());
  for (Stream* stream : idle) stream->close();
}

void HttpServer::Impl::close() {
  stop();
  std::vector<std::shared_ptr<Stream>> streams;
  for (Stream* stream : open_) streams.push_back(stream->shared_from_this());
  for (const auto& stream : streams) stream->close();
}

HttpServer::HttpServer(asio::io_context& io, const std::string& address, std::uint16_t port,
                       ServerLimits limits, Handler handler)
    : impl_(std::make_shared<Impl>(io, address, port, limits, std::move(handler))) {
  asio::co_spawn(io, [impl = impl_] { return impl->accept(); }, asio::detached);
}

HttpServer::~HttpServer() {
  impl_->close();
}

void HttpServer::on_error(std::function<void(const std::string&)> report) {
  impl_->report = std::move(report);
}
std::uint16_t HttpServer::port() const {
  return impl_->port();
}
std::size_t HttpServer::connections() const {
  return impl_->connections();
}
std::uint64_t HttpServer::refused() const {
  return impl_->refused();
}
void HttpServer::stop() {
  impl_->stop();
}
void HttpServer::close() {
  impl_->close();
}

}  // namespace tare::net
