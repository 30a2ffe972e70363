#include "lab/bench/gateway/attempt.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "lab/bench/gateway/course.hpp"

namespace tare::gateway_bench {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds pulse_every{1};

std::string sentence_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    std::string line = error.what();
    if (!error.why().empty()) line += fmt::format(" ({})", error.why());
    if (!error.hint().empty()) line += "; " + error.hint();
    return text::one_line(line);
  } catch (const std::exception& error) {
    return text::one_line(error.what());
  }
}

/// Runs a course to its end, and its cleaning up after that, whatever ends it.
class Execution {
 public:
  Execution(const AttemptRequest& request, Attempt& attempt)
      : request_(request),
        attempt_(attempt),
        signals_(io_, ::dup(request.interrupt.fd())),
        pulse_(io_),
        course_(io_, request, attempt) {}

  void run() {
    listen();
    beat();
    asio::co_spawn(io_, course_.measure(),
                   asio::bind_cancellation_slot(cancel_.slot(), [this](const std::exception_ptr& failure) {
                     if (failure) note(failure);
                     asio::co_spawn(io_, course_.clean_up(), [this](const std::exception_ptr& failed) {
                       if (failed) note(failed);
                       ended_ = true;
                     });
                   }));
    while (!ended_) io_.run_one();
  }

 private:
  void listen() {
    signals_.async_wait(asio::posix::stream_descriptor::wait_read,
                        [this](const boost::system::error_code& error) {
                          if (error) return;
                          attempt_.interrupted = true;
                          cancel_.emit(asio::cancellation_type::terminal);
                        });
  }

  void beat() {
    pulse_.expires_after(pulse_every);
    pulse_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      course_.look();
      if (request_.on_pulse) request_.on_pulse(course_.pulse());
      beat();
    });
  }

  /// The first failure counts; an interrupted run has none.
  void note(const std::exception_ptr& failure) {
    if (attempt_.failure || attempt_.interrupted) return;
    attempt_.failure = sentence_of(failure);
    attempt_.tails = course_.tails();
  }

  const AttemptRequest& request_;
  Attempt& attempt_;
  asio::io_context io_{1};
  asio::cancellation_signal cancel_;
  asio::posix::stream_descriptor signals_;
  asio::steady_timer pulse_;
  Course course_;
  bool ended_ = false;
};

}  // namespace

Attempt run_once(const AttemptRequest& request) {
  Attempt attempt;
  attempt.target = request.target.id;
  attempt.record.run = request.run;
  Execution(request, attempt).run();
  return attempt;
}

}  // namespace tare::gateway_bench
