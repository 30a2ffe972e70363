#include "runtime/guest_driver/transport.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "runtime/guest_driver/lane.hpp"

namespace tare::guest_driver {
namespace {

/// A guest and what it has said that nobody took yet.
class EchoGuest {
 public:
  explicit EchoGuest(guest::Execution& guest) : guest_(guest) {}

  /// One line there and back.
  Sample trip(const std::string& line, std::chrono::milliseconds limit) {
    const SystemClock clock;
    Sample sample;
    if (over_) {
      sample.fail("failed", *over_);
      return sample;
    }
    const Instant begin = clock.now();
    guest_.write_stdin(line);
    const bool back = read_until_newline(begin + limit);
    sample.ns["total"] = (clock.now() - begin).count();
    sample.output = take(back);
    if (back) return sample;
    if (exit_) {
      over_ = "before the line was back: it " + guest::describe(*exit_);
      sample.fail("failed", *over_);
    } else {
      over_ = "the guest was ended after a round trip that was late";
      guest_.kill();
      sample.fail("timeout", "");
    }
    return sample;
  }

  /// Ends its input and waits until it has left; kills one that does not.
  std::optional<guest::Exit> finish(std::chrono::milliseconds limit) {
    guest_.close_stdin();
    if (!exit_) read(SystemClock().now() + limit, [] { return false; });
    if (exit_) return exit_;
    guest_.kill();
    guest_.wait(SystemClock().now() + std::chrono::seconds(2));
    return std::nullopt;
  }

  std::string rest() { return std::exchange(said_, {}); }

 private:
  /// Reads until `done`, the end or the deadline.
  template <class Done>
  bool read(Instant deadline, Done done) {
    while (!done()) {
      const auto event = guest_.poll_event(deadline);
      if (!event) return false;
      if (const auto* out = std::get_if<guest::Stdout>(&*event)) said_ += out->bytes;
      if (const auto* ended = std::get_if<guest::Ended>(&*event)) {
        exit_ = ended->exit;
        return false;
      }
    }
    return true;
  }

  bool read_until_newline(Instant deadline) {
    std::size_t looked = 0;
    return read(deadline, [&] {
      const bool found = said_.find('\n', looked) != std::string::npos;
      looked = said_.size();
      return found;
    });
  }

  /// The line that has come, or all there is.
  std::string take(bool line) {
    if (!line) return rest();
    const std::size_t end = said_.find('\n') + 1;
    std::string taken = said_.substr(0, end);
    said_.erase(0, end);
    return taken;
  }

  guest::Execution& guest_;
  std::string said_;
  std::optional<guest::Exit> exit_;
  std::optional<std::string> over_;  ///< why there can be no other round trip
};

}  // namespace

std::string transport_line(const RoundTrip& trip, std::uint32_t k) {
  std::string line = fmt::format("transport:{}-{}:", trip.nonce, k);
  if (line.size() < trip.bytes) line.append(trip.bytes - line.size(), 'x');
  return line + '\n';
}

std::vector<Sample> round_trips(guest::Execution& guest, const RoundTrip& trip, std::uint32_t count) {
  EchoGuest echo(guest);
  std::vector<Sample> samples;
  samples.reserve(count);
  for (std::uint32_t k = 0; k < count; ++k) samples.push_back(echo.trip(transport_line(trip, k), trip.limit));
  const auto exit = echo.finish(trip.limit);
  Sample& last = samples.back();
  if (last.output) *last.output += echo.rest();
  if (!exit) {
    if (last.outcome == "ok") last.fail("timeout", "");
    return samples;
  }
  if (last.outcome == "ok") judge(*exit, last);
  for (Sample& sample : samples) {
    if (exit->code) sample.counters["exitCode"] = *exit->code;
    if (exit->signal) sample.counters["signal"] = *exit->signal;
  }
  return samples;
}

}  // namespace tare::guest_driver
