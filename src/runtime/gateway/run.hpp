#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/clock.hpp"
#include "runtime/gateway/hub.hpp"
#include "runtime/gateway/record.hpp"

namespace tare::gateway {

struct Session;

/// Somebody waits for the end of a run.
struct Wait {
  Wait(Call who, std::string run, boost::asio::steady_timer clock)
      : call(std::move(who)), key(std::move(run)), timer(std::move(clock)) {}
  Call call;
  std::string key;  ///< of the run
  boost::asio::steady_timer timer;
};

/// One message of a user and what the model makes of it.
struct Run {
  RunRecord record;
  std::shared_ptr<Session> session;  ///< null when it was removed since
  std::string title;                 ///< how the user's text begins
  Message user;                      ///< seq 0: its text waits until the run starts
  std::size_t held = 0;              ///< bytes of that text that count against the limit of all of them

  enum class Phase : std::uint8_t { accepting, queued, running, ended };
  Phase phase = Phase::accepting;
  /// Why it is stopped before its end, if it is.
  enum class Stop : std::uint8_t { no, aborted, timed_out, interrupted };
  Stop stop = Stop::no;
  boost::asio::cancellation_signal cancel;
  std::unique_ptr<boost::asio::steady_timer> limit;
  Instant began{};  ///< running; the time of the calendar in `record` may jump

  std::string text;      ///< of the reply, so far; dropped a while after the end
  std::size_t told = 0;  ///< how much of it was sent in events
  Instant told_at{};
  Fault fault;  ///< when it failed
  std::int64_t agent_seq = 0;
  std::int64_t chat_seq = 0;

  std::vector<Call> joining;  ///< asked again before it was accepted
  std::vector<Call> finals;   ///< get the second response
  std::vector<std::shared_ptr<Wait>> waits;
};

}  // namespace tare::gateway
