#include <memory>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/error.hpp"
#include "net/stream.hpp"

namespace tare::net {
namespace asio = boost::asio;
using asio::ip::tcp;
namespace {

/// A name that is being looked up, on a thread of the resolver's own which cannot be stopped: who waits for
/// it may be gone when the answer comes.
struct Lookup {
  explicit Lookup(asio::io_context& io) : resolver(io), done(io) {}
  tcp::resolver resolver;
  asio::steady_timer done;
  bool answered = false;
  boost::system::error_code error;
  std::vector<tcp::endpoint> endpoints;
};

asio::awaitable<std::vector<tcp::endpoint>> resolve(asio::io_context& io, const std::string& host,
                                                    std::uint16_t port, Loop::Moment until) {
  boost::system::error_code error;
  if (const auto address = asio::ip::make_address(host, error); !error) {
    co_return std::vector<tcp::endpoint>{{address, port}};
  }
  const auto lookup = std::make_shared<Lookup>(io);
  lookup->done.expires_at(until);
  lookup->resolver.async_resolve(host, std::to_string(port),
                                 [lookup](const auto& failure, const auto& results) {
                                   lookup->answered = true;
                                   lookup->error = failure;
                                   for (const auto& result : results)
                                     lookup->endpoints.push_back(result.endpoint());
                                   lookup->done.cancel();
                                 });
  auto [waited] = co_await lookup->done.async_wait(asio::as_tuple(asio::use_awaitable));
  if (!lookup->answered && waited) throw boost::system::system_error(waited);  // cancelled
  if (!lookup->answered) throw Error(ErrorCode::timeout, "no address for " + host + " within the time limit");
  if (lookup->error) {
    throw Error(ErrorCode::unavailable, "no address for " + host, lookup->error.message());
  }
  co_return std::move(lookup->endpoints);
}

}  // namespace

asio::awaitable<std::shared_ptr<Stream>> dial(asio::io_context& io, std::string scheme, std::string host,
                                              std::uint16_t port, std::chrono::milliseconds limit) {
  const Loop::Moment until = std::chrono::steady_clock::now() + limit;
  const std::vector<tcp::endpoint> endpoints = co_await resolve(io, host, port, until);
  for (std::size_t i = 0;; ++i) {
    auto stream = std::make_shared<Stream>(io);
    stream->deadline().at(until);
    try {
      co_await stream->connect(endpoints.at(i));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::timeout || i + 1 == endpoints.size()) throw;
      continue;
    }
    if (scheme == "https" || scheme == "wss") co_await stream->secure(host);
    stream->deadline().clear();
    co_return stream;
  }
}

}  // namespace tare::net
