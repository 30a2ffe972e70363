#include "net/http_client.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "net/connection_pool.hpp"
#include "net/http_parser.hpp"
#include "net/stream.hpp"

namespace tare::net {
namespace asio = boost::asio;
namespace {

std::string text_of(const Url& server, const Request& request) {
  const std::string_view target = request.target;
  if (target.empty() || target.find_first_of(" \r\n\t") != std::string_view::npos) {
    throw Error(ErrorCode::failed, fmt::format("'{}' is no target of a request", target));
  }
  std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, target, authority(server));
  append_headers(text, request.headers);
  const bool has_body = !request.body.empty() || (request.method != "GET" && request.method != "HEAD");
  if (has_body) text.append(fmt::format("Content-Length: {}\r\n", request.body.size()));
  return text.append("\r\n").append(request.body);
}

/// One answer, on the connection that is lent to its request.
class Answer final : public BodyStream {
 public:
  Answer(ConnectionPool::Lease lease, std::string server, HttpParser::Kind kind, ClientLimits limits)
      : lease_(std::move(lease)), server_(std::move(server)), kind_(kind), limits_(limits) {}

  int status() const override { return parser_->status; }
  const Headers& headers() const override { return parser_->headers; }
  asio::awaitable<std::string_view> read() override { return read_by(Loop::Moment::max()); }
  asio::awaitable<std::string_view> read_by(Loop::Moment moment) override;

  ConnectionPool::Lease& lease() { return lease_; }
  /// Sends the request and reads the answer's headers. False when the connection ended before it came to
  /// either.
  asio::awaitable<bool> begin(const std::string& request);

 private:
  void feed();
  void settle();
  void reset();
  Error broken() const;

  ConnectionPool::Lease lease_;
  std::string server_;
  HttpParser::Kind kind_;
  ClientLimits limits_;
  std::optional<HttpParser> parser_;
  std::string piece_;
  bool by_caller_ = false;  ///< the moment until which is waited is the caller's
};

void Answer::reset() {
  parser_.emplace(kind_, HttpParser::Limits{most_header_bytes, std::numeric_limits<std::size_t>::max()});
}

Error Answer::broken() const {
  Stream& stream = lease_.stream();
  if (stream.timed_out()) {
    return Error(ErrorCode::timeout,
                 by_caller_ ? fmt::format("{} took too long", server_)
                            : fmt::format("{} was silent for {} ms", server_, limits_.silence.count()));
  }
  return Error(ErrorCode::failed, fmt::format("the connection to {} broke", server_),
               stream.why().empty() ? "it ended in the middle of an answer" : stream.why());
}

void Answer::feed() {
  Stream& stream = lease_.stream();
  try {
    for (;;) {
      const std::size_t used = parser_->feed({stream.input().data(), stream.input().size()});
      stream.consume(used);
      if (used == 0 || stream.input().empty() || parser_->done()) return;
    }
  } catch (const HttpProblem& problem) {
    throw Error(ErrorCode::failed, fmt::format("{} sent what is no HTTP", server_), problem.why());
  }
}

asio::awaitable<bool> Answer::begin(const std::string& request) {
  Stream& stream = lease_.stream();
  const std::uint64_t before = stream.bytes_in();
  stream.deadline().after(limits_.silence);
  stream.write(request);
  reset();
  while (!parser_->header_done()) {
    if (!co_await stream.fill()) {
      if (stream.bytes_in() == before && !stream.timed_out()) co_return false;
      throw broken();
    }
    feed();
    // 100 and 103 only announce the answer.
    while (parser_->header_done() && parser_->status / 100 == 1 && parser_->status != 101) {
      reset();
      feed();
    }
  }
  stream.deadline().clear();
  if (parser_->done()) settle();
  co_return true;
}

asio::awaitable<std::string_view> Answer::read_by(Loop::Moment moment) {
  piece_.clear();
  while (parser_->body.empty() && !parser_->done()) {
    Stream& stream = lease_.stream();
    const Loop::Moment silent = Loop::Moment::clock::now() + limits_.silence;
    by_caller_ = moment < silent;
    stream.deadline().at(std::min(moment, silent));
    const bool more = co_await stream.fill();
    stream.deadline().clear();
    if (more) {
      feed();
    } else {
      if (stream.closed()) throw broken();
      try {
        parser_->feed_end();
      } catch (const HttpProblem&) {
        throw broken();
      }
    }
    if (parser_->done()) settle();
  }
  piece_.swap(parser_->body);
  co_return piece_;
}

/// The answer is complete, so its connection can serve another request.
void Answer::settle() {
  if (!lease_) return;
  if (parser_->keep_alive() && lease_.stream().input().empty() && lease_.stream().queued() == 0 &&
      lease_.stream().writable()) {
    lease_.give_back();
  } else {
    const ConnectionPool::Lease ended(std::move(lease_));
  }
}

}  // namespace

class HttpClient::Impl {
 public:
  Impl(asio::io_context& io, Url server, ClientLimits limits)
      : io_(io),
        server_(std::move(server)),
        limits_(limits),
        pool_(std::make_shared<ConnectionPool>(io, limits.connections)) {}
  ~Impl() { pool_->close(); }

  asio::awaitable<std::unique_ptr<BodyStream>> start(Request request);
  std::size_t connections() const { return pool_->connections(); }
  const ClientLimits& limits() const { return limits_; }
  const Url& server() const { return server_; }

 private:
  asio::io_context& io_;
  Url server_;
  ClientLimits limits_;
  std::shared_ptr<ConnectionPool> pool_;
};

asio::awaitable<std::unique_ptr<BodyStream>> HttpClient::Impl::start(Request request) {
  const std::string text = text_of(server_, request);
  const auto kind =
      request.method == "HEAD" ? HttpParser::Kind::response_to_head : HttpParser::Kind::response;
  ConnectionPool::Lease turn = co_await pool_->lease();
  auto answer = std::make_unique<Answer>(std::move(turn), authority(server_), kind, limits_);
  ConnectionPool::Lease& lease = answer->lease();
  if (lease.take_kept()) {
    if (co_await answer->begin(text)) co_return answer;
    lease.close();  // the server had closed it
  }
  lease.connect(co_await dial(io_, server_.scheme, server_.host, server_.port, limits_.connect_time));
  if (!co_await answer->begin(text)) {
    throw Error(ErrorCode::failed,
                fmt::format("{} closed the connection without an answer", authority(server_)),
                lease.stream().why());
  }
  co_return answer;
}

HttpClient::HttpClient(asio::io_context& io, Url server, ClientLimits limits)
    : impl_(std::make_shared<Impl>(io, std::move(server), limits)) {}
HttpClient::~HttpClient() = default;

asio::awaitable<std::unique_ptr<BodyStream>> HttpClient::stream(Request request) {
  const auto impl = impl_;
  co_return co_await impl->start(std::move(request));
}

asio::awaitable<Response> HttpClient::request(Request request) {
  const auto impl = impl_;
  const auto answer = co_await impl->start(std::move(request));
  Response response{answer->status(), answer->headers(), {}};
  for (std::string_view piece = co_await answer->read(); !piece.empty(); piece = co_await answer->read()) {
    if (piece.size() > impl->limits().body_bytes - response.body.size()) {
      throw Error(ErrorCode::failed, fmt::format("the answer of {} is larger than {} bytes",
                                                 authority(impl->server()), impl->limits().body_bytes));
    }
    response.body.append(piece);
  }
  co_return response;
}

std::size_t HttpClient::connections() const {
  return impl_->connections();
}

}  // namespace tare::net
