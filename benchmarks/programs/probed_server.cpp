// probed_server: what the load generator is tried on. An HTTP/1.1 server on loopback that does next to
// nothing for a request, and whose answers come at known moments:
//
//   GET /fast    at once
//   GET /delay   20 ms later
//   GET /stall   at once, but in the first 500 ms of each 5 s: then at the end of those
//
// A line on stdin is answered with its port. It leaves when stdin ends.

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <netinet/tcp.h>
#include <string_view>
#include <unordered_map>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <system_error>

#include "base/fd.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto delay = 20ms;
constexpr auto stall = 500ms;
constexpr auto stall_every = 5s;
constexpr std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
constexpr std::string_view request_end = "\r\n\r\n";

int must(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

struct Connection {
  tare::Fd fd;
  std::array<char, 4096> room{};
  std::size_t filled = 0;
};

class Server {
 public:
  Server() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    must(::bind(listener_.get(), plain, size), "bind");
    must(::listen(listener_.get(), SOMAXCONN), "listen");
    must(::getsockname(listener_.get(), plain, &size), "getsockname");
    port_ = ntohs(address.sin_port);
    for (const int fd : {STDIN_FILENO, listener_.get(), timer_.get()}) watch(fd);
  }

  void serve() {
    std::array<epoll_event, 256> events{};
    while (!ending_) {
      const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), -1);
      if (count < 0 && errno != EINTR) must(count, "epoll_wait");
      for (int i = 0; i < count; ++i) take(events[static_cast<std::size_t>(i)].data.fd);
    }
  }

 private:
  void watch(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    must(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
  }

  void take(int fd) {
    if (fd == STDIN_FILENO) {
      take_line();
    } else if (fd == listener_.get()) {
      accept();
    } else if (fd == timer_.get()) {
      answer_held();
    } else {
      read(fd);
    }
  }

  void take_line() {
    std::array<char, 256> line;
    if (::read(STDIN_FILENO, line.data(), line.size()) <= 0) {
      ending_ = true;
    } else {
      std::printf("%d\n", port_);
      std::fflush(stdout);
    }
  }

  void accept() {
    tare::Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const int number = fd.get();
    watch(number);
    auto connection = std::make_unique<Connection>();
    connection->fd = std::move(fd);
    connections_[number] = std::move(connection);
  }

  void read(int fd) {
    Connection& connection = *connections_.at(fd);
    const ssize_t got =
        ::recv(fd, connection.room.data() + connection.filled, connection.room.size() - connection.filled, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return close(fd);
    connection.filled += static_cast<std::size_t>(got);
    const std::string_view request(connection.room.data(), connection.filled);
    if (!request.ends_with(request_end)) return;  // one request at a time, as its clients ask
    connection.filled = 0;
    const Clock::time_point due = due_of(request);
    if (due == Clock::time_point()) return send(fd);
    held_.emplace(due, fd);
    if (held_.begin()->first == due) arm();
  }

  /// When a request is answered; nothing for at once.
  static Clock::time_point due_of(std::string_view request) {
    if (request.starts_with("GET /delay ")) return Clock::now() + delay;
    if (!request.starts_with("GET /stall ")) return {};
    const Clock::time_point now = Clock::now();
    const auto phase = now.time_since_epoch() % stall_every;
    return phase < stall ? now + (stall - phase) : Clock::time_point();
  }

  void arm() {
    const auto due = std::chrono::nanoseconds(held_.begin()->first.time_since_epoch()).count();
    itimerspec when{};
    when.it_value.tv_sec = due / 1'000'000'000;
    when.it_value.tv_nsec = due % 1'000'000'000;
    must(::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr), "timerfd_settime");
  }

  void answer_held() {
    std::uint64_t times = 0;
    if (::read(timer_.get(), &times, sizeof times) < 0) return;
    while (!held_.empty() && held_.begin()->first <= Clock::now()) {
      send(held_.begin()->second);
      held_.erase(held_.begin());
    }
    if (!held_.empty()) arm();
  }

  static void send(int fd) {
    ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);  // a client that is gone ends it
  }

  void close(int fd) {
    std::erase_if(held_, [fd](const auto& held) { return held.second == fd; });
    connections_.erase(fd);
  }

  tare::Fd epoll_{must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")};
  tare::Fd listener_{must(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")};
  tare::Fd timer_{must(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create")};
  int port_ = 0;
  bool ending_ = false;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;
  std::multimap<Clock::time_point, int> held_;
};

}  // namespace

int main() {
  try {
    Server().serve();
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "probed_server: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
