#include "lab/load/http_requests.hpp"

#include <array>
#include <cerrno>
#include <iterator>
#include <list>
#include <netinet/tcp.h>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/error.hpp"
#include "lab/load/http_connection.hpp"

namespace tare::load {
namespace asio = boost::asio;
using asio::ip::tcp;
namespace {

constexpr std::size_t block_bytes = 64 * 1024;
constexpr std::size_t events_a_turn = 256;

std::vector<tcp::endpoint> look_up(asio::io_context& io, const net::Url& server) {
  if (server.scheme != "http")
    throw Error(ErrorCode::input, fmt::format("{}://{} is not http", server.scheme, authority(server)));
  boost::system::error_code error;
  std::vector<tcp::endpoint> endpoints;
  for (const auto& found : tcp::resolver(io).resolve(server.host, std::to_string(server.port), error))
    endpoints.push_back(found.endpoint());
  if (endpoints.empty())
    throw Error(ErrorCode::unavailable, "no address for " + server.host, error.message());
  return endpoints;
}

int make_epoll() {
  const int fd = ::epoll_create1(EPOLL_CLOEXEC);
  if (fd < 0) throw Error(ErrorCode::failed, "no epoll", errno_text(errno));
  return fd;
}

bool has_ended(int error) {
  return error == EPIPE || error == ECONNRESET;
}

}  // namespace

/// All sockets are in one epoll of its own, edge-triggered and never changed, and the io_context waits for
/// that one alone: so a socket that becomes ready costs neither a handler nor a system call to wait for it
/// again.
class HttpRequests::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& io, const net::Url& server, HttpLimits limits)
      : io_(io),
        limits_(limits),
        addresses_(look_up(io, server)),
        host_(authority(server)),
        epoll_(io, make_epoll()),
        timer_(io),
        block_(std::make_unique_for_overwrite<char[]>(block_bytes)) {}

  std::size_t open() const { return busy_.size(); }
  std::size_t connections() const { return busy_.size() + idle_.size(); }
  bool get(std::string_view path, std::string_view accept, Answered answered);
  void close(std::optional<Outcome> outcome);

 private:
  using Connection = HttpConnection;

  void write_request(Connection& connection, std::string_view path, std::string_view accept) const;
  void connect(Connection& connection);
  void send(Connection& connection);
  void break_later(Connection& connection, int error);
  void end_broken();
  template <class Give>
  void give_answers(Give give);

  void wait();
  void turn();
  void take(const epoll_event& event);
  bool take_connected(Connection& connection);
  void read(Connection& connection, bool peer_ended);
  bool take_bytes(Connection& connection, std::string_view bytes, bool peer_ended);
  void take_end(Connection& connection, const std::string& why);
  void broke(Connection& connection, const std::string& why);
  void replace(Connection& connection, std::size_t address);
  void answer(Connection& connection, Outcome outcome, std::string_view error);

  void watch_time();
  void end_late();
  void bury(std::list<Connection>& from, Connection& connection);

  asio::io_context& io_;
  HttpLimits limits_;
  std::vector<tcp::endpoint> addresses_;
  std::size_t good_address_ = 0;  ///< the last one that took a connection
  std::string host_;
  asio::posix::stream_descriptor epoll_;
  asio::steady_timer timer_;  ///< one, for the oldest request
  std::unique_ptr<char[]> block_;
  std::list<Connection> busy_;  ///< the oldest request first
  std::list<Connection> idle_;  ///< the one that was used last first
  std::list<Connection> dead_;  ///< events, or an answer that is being given, may still name them
  bool waits_ = false;
  bool gives_ = false;
  bool timer_runs_ = false;
  bool end_broken_due_ = false;
};

bool HttpRequests::Impl::get(std::string_view path, std::string_view accept, Answered answered) {
  const bool kept = !idle_.empty();
  if (!kept && busy_.size() >= limits_.connections) return false;
  if (kept) {
    busy_.splice(busy_.end(), idle_, idle_.begin());
  } else {
    busy_.emplace_back(limits_.body_bytes);
    busy_.back().self = std::prev(busy_.end());
  }
  Connection& connection = busy_.back();
  connection.was_kept = kept;
  connection.has_answer = false;
  connection.answered = std::move(answered);
  write_request(connection, path, accept);
  connection.sent = SystemClock().now();
  if (kept) {
    send(connection);
  } else {
    connection.address = good_address_;
    connect(connection);
  }
  watch_time();
  return true;
}

void HttpRequests::Impl::write_request(Connection& connection, std::string_view path,
                                       std::string_view accept) const {
  std::string& text = connection.request;
  text.assign("GET ").append(path).append(" HTTP/1.1\r\nHost: ").append(host_);
  if (!accept.empty()) text.append("\r\nAccept: ").append(accept);
  text.append("\r\n\r\n");
  connection.given = 0;
}

void HttpRequests::Impl::connect(Connection& connection) {
  const tcp::endpoint& endpoint = addresses_[connection.address];
  connection.connecting = true;
  connection.fd = Fd(::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!connection.fd) return break_later(connection, errno);
  const int on = 1;
  ::setsockopt(connection.fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(connection.fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) < 0 &&
      errno != EINPROGRESS)
    return break_later(connection, errno);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &connection;
  if (::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_ADD, connection.fd.get(), &event) < 0)
    return break_later(connection, errno);
  wait();
}

void HttpRequests::Impl::send(Connection& connection) {
  const std::string_view text = connection.request;
  while (connection.given < text.size()) {
    const ssize_t n = ::send(connection.fd.get(), text.data() + connection.given,
                             text.size() - connection.given, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      connection.given += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN || has_ended(errno)) {
      return;  // an event follows; an answer may have come before the end
    } else if (errno != EINTR) {
      return break_later(connection, errno);
    }
  }
}

/// What goes wrong within `get` is told afterwards.
void HttpRequests::Impl::break_later(Connection& connection, int error) {
  connection.broken = errno_text(error);
  if (std::exchange(end_broken_due_, true)) return;
  asio::post(io_, [self = shared_from_this()] { self->end_broken(); });
}

void HttpRequests::Impl::end_broken() {
  end_broken_due_ = false;
  std::vector<Connection*> broken;
  for (Connection& connection : busy_) {
    if (!connection.broken.empty()) broken.push_back(&connection);
  }
  give_answers([&] {
    for (Connection* connection : broken) {
      if (connection->answered) broke(*connection, connection->broken);
    }
  });
}

/// What is closed meanwhile stays where it is until this is over.
template <class Give>
void HttpRequests::Impl::give_answers(Give give) {
  gives_ = true;
  give();
  gives_ = false;
  dead_.clear();
}

void HttpRequests::Impl::wait() {
  if (std::exchange(waits_, true)) return;
  epoll_.async_wait(asio::posix::stream_descriptor::wait_read,
                    [self = shared_from_this()](const boost::system::error_code& error) {
                      self->waits_ = false;
                      if (!error) self->turn();
                      if (self->connections() > 0) self->wait();
                    });
}

void HttpRequests::Impl::turn() {
  std::array<epoll_event, events_a_turn> events;
  const int count = ::epoll_wait(epoll_.native_handle(), events.data(), static_cast<int>(events.size()), 0);
  give_answers([&] {
    for (int i = 0; i < count; ++i) take(events[static_cast<std::size_t>(i)]);
  });
}

void HttpRequests::Impl::take(const epoll_event& event) {
  Connection& connection = *static_cast<Connection*>(event.data.ptr);
  if (!connection.fd) return;  // closed in this turn
  if (connection.connecting && !take_connected(connection)) return;
  if ((event.events & EPOLLOUT) != 0 && connection.answered) send(connection);
  constexpr std::uint32_t ended = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  if ((event.events & (EPOLLIN | ended)) != 0) read(connection, (event.events & ended) != 0);
}

bool HttpRequests::Impl::take_connected(Connection& connection) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(connection.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    broke(connection, errno_text(error));
    return false;
  }
  connection.connecting = false;
  good_address_ = connection.address;
  return true;
}

/// Reads until the socket has no more: a short read says so, unless the peer ended meanwhile.
void HttpRequests::Impl::read(Connection& connection, bool peer_ended) {
  for (;;) {
    const ssize_t n = ::recv(connection.fd.get(), block_.get(), block_bytes, MSG_DONTWAIT);
    if (n == 0) return take_end(connection, {});
    if (n < 0) {
      if (errno == EINTR) continue;
      if (has_ended(errno)) return take_end(connection, errno_text(errno));
      if (errno != EAGAIN) broke(connection, errno_text(errno));
      return;
    }
    const auto size = static_cast<std::size_t>(n);
    if (!take_bytes(connection, {block_.get(), size}, peer_ended)) return;
    if (size < block_bytes && !peer_ended) return;
  }
}

/// False when there is nothing more to read for this request.
bool HttpRequests::Impl::take_bytes(Connection& connection, std::string_view bytes, bool peer_ended) {
  if (!connection.answered) {  // nobody asked
    bury(idle_, connection);
    return false;
  }
  connection.has_answer = true;
  AnswerReader& reader = connection.reader;
  const std::size_t used = reader.feed(bytes);
  if (reader.state() == AnswerReader::State::more) return true;
  const bool is_done = reader.state() == AnswerReader::State::done;
  const bool keep = is_done && reader.keep_alive() && used == bytes.size() && bytes.size() < block_bytes &&
                    !peer_ended && connection.given == connection.request.size();
  if (keep) {
    const Answered answered = std::exchange(connection.answered, {});
    idle_.splice(idle_.begin(), busy_, connection.self);
    answered({Outcome::ok, reader.status(), reader.body(), {}, connection.sent, SystemClock().now()});
  } else {
    answer(connection, is_done ? Outcome::ok : Outcome::failed, reader.error());
  }
  return false;
}

/// `why` is empty when the peer ended in order.
void HttpRequests::Impl::take_end(Connection& connection, const std::string& why) {
  if (!connection.answered) return bury(idle_, connection);
  if (connection.was_kept && !connection.has_answer) return replace(connection, connection.address);
  if (!why.empty()) return broke(connection, why);
  connection.reader.feed_end();
  const bool is_done = connection.reader.state() == AnswerReader::State::done;
  answer(connection, is_done ? Outcome::ok : Outcome::failed, connection.reader.error());
}

void HttpRequests::Impl::broke(Connection& connection, const std::string& why) {
  if (!connection.answered) return bury(idle_, connection);
  if (connection.connecting && connection.address + 1 < addresses_.size())
    return replace(connection, connection.address + 1);
  answer(connection, Outcome::failed, why);
}

/// Asks the same once more on a new connection, in its place among the others.
void HttpRequests::Impl::replace(Connection& connection, std::size_t address) {
  const auto fresh = busy_.emplace(connection.self, limits_.body_bytes);
  fresh->self = fresh;
  fresh->address = address;
  fresh->request = std::move(connection.request);
  fresh->answered = std::exchange(connection.answered, {});
  fresh->sent = connection.sent;
  bury(busy_, connection);
  connect(*fresh);
}

/// Gives the answer on a connection that is not kept.
void HttpRequests::Impl::answer(Connection& connection, Outcome outcome, std::string_view error) {
  const bool is_ok = outcome == Outcome::ok;
  const Answered answered = std::exchange(connection.answered, {});
  const HttpAnswer given{outcome,
                         connection.has_answer ? connection.reader.status() : 0,
                         is_ok ? connection.reader.body() : std::string_view(),
                         error,
                         connection.sent,
                         SystemClock().now()};
  bury(busy_, connection);
  answered(given);
}

void HttpRequests::Impl::watch_time() {
  if (timer_runs_ || busy_.empty()) return;
  timer_runs_ = true;
  timer_.expires_at(busy_.front().sent + limits_.time);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    self->timer_runs_ = false;
    if (!error) self->end_late();
    self->watch_time();
  });
}

void HttpRequests::Impl::end_late() {
  const std::string why = fmt::format("no whole answer within {} ms", limits_.time.count());
  const Instant now = SystemClock().now();
  give_answers([&] {
    while (!busy_.empty() && busy_.front().sent + limits_.time <= now)
      answer(busy_.front(), Outcome::timeout, why);
  });
}

void HttpRequests::Impl::bury(std::list<Connection>& from, Connection& connection) {
  connection.fd.reset();
  dead_.splice(dead_.end(), from, connection.self);
}

void HttpRequests::Impl::close(std::optional<Outcome> outcome) {
  std::vector<std::pair<Answered, Instant>> given_up;
  for (Connection& connection : busy_)
    given_up.emplace_back(std::exchange(connection.answered, {}), connection.sent);
  for (auto* const list : {&busy_, &idle_}) {
    while (!list->empty()) bury(*list, list->front());
  }
  if (!gives_) dead_.clear();
  epoll_.cancel();
  timer_.cancel();
  if (!outcome) return;
  for (const auto& [answered, sent] : given_up)
    answered({*outcome, 0, {}, "given up", sent, SystemClock().now()});
}

HttpRequests::HttpRequests(asio::io_context& io, const net::Url& server, HttpLimits limits)
    : impl_(std::make_shared<Impl>(io, server, limits)) {}

HttpRequests::~HttpRequests() {
  impl_->close({});
}

bool HttpRequests::get(std::string_view path, std::string_view accept, Answered answered) {
  return impl_->get(path, accept, std::move(answered));
}

std::size_t HttpRequests::open() const {
  return impl_->open();
}

std::size_t HttpRequests::connections() const {
  return impl_->connections();
}

void HttpRequests::close(Outcome outcome) {
  impl_->close(outcome);
}

}  // namespace tare::load
