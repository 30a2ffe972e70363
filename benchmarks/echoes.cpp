#include "echoes.hpp"

#include <cerrno>
#include <chrono>
#include <utility>
#include <variant>

#include <sys/socket.h>

#include "base/clock.hpp"
#include "benchmark.hpp"
#include "guest_lanes.hpp"
#include "peer.hpp"

namespace tare::benchmarks {
namespace {

constexpr auto echo_limit = std::chrono::seconds(30);

process::SpawnOptions echo_options(int socket) {
  process::SpawnOptions options;
  options.argv = {helper("bare_echo").string()};
  options.in = options.out = process::Stdio::descriptor(socket);
  return options;
}

template <class Echo>
double timed_trip_us(Echo& echo, const std::string& block) {
  const SystemClock clock;
  std::string back;
  back.reserve(block.size());
  const Instant begin = clock.now();
  echo.round_trip(block, back);
  const Instant end = clock.now();
  if (back != block) throw Broken("an echo gave back something else");
  return static_cast<double>((end - begin).count()) / 1e3;
}

}  // namespace

GuestEcho::GuestEcho(guest::Execution execution) : execution_(std::move(execution)) {}

void GuestEcho::round_trip(const std::string& block, std::string& back) {
  back.clear();
  if (!execution_.write_stdin(block)) throw Broken("the guest does not read any more");
  while (back.size() < block.size()) {
    const auto event = execution_.poll_event(SystemClock().now() + echo_limit);
    const auto* out = event ? std::get_if<guest::Stdout>(&*event) : nullptr;
    if (out == nullptr) throw Broken("the guest does not echo any more");
    back += out->bytes;
  }
}

void GuestEcho::leave() {
  execution_.close_stdin();
  expect_success(execution_);
}

BareEcho::BareEcho()
    : pair_(guest::make_socket_pair()), child_(process::spawn(echo_options(pair_.theirs.get()))) {
  pair_.theirs.reset();
}

void BareEcho::round_trip(const std::string& block, std::string& back) {
  back.resize(block.size());
  if (!guest::send_all(pair_.ours.get(), block)) throw Broken("bare_echo does not read any more");
  for (std::size_t got = 0; got < back.size();) {
    const ssize_t n = ::recv(pair_.ours.get(), back.data() + got, back.size() - got, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw Broken("bare_echo does not echo any more");
    got += static_cast<std::size_t>(n);
  }
}

void BareEcho::leave() {
  pair_.ours.reset();
  const auto exit = child_.wait(SystemClock().now() + echo_limit);
  if (!exit || !exit->ok()) throw Broken("bare_echo did not end well");
}

double round_trip_us(GuestEcho& echo, const std::string& block) {
  return timed_trip_us(echo, block);
}

double round_trip_us(BareEcho& echo, const std::string& block) {
  return timed_trip_us(echo, block);
}

}  // namespace tare::benchmarks
