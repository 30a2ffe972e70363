#include "lab/gateway/server.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <list>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/gateway/output.hpp"

namespace tare::lab_gateway {
namespace asio = boost::asio;
namespace {

using namespace std::chrono_literals;

/// In the environment of a server and of all that it starts.
constexpr const char* server_variable = "TARE_SERVER";
constexpr auto stray_limit = 1s;  ///< until the strays are gone
constexpr auto drain_limit = 1s;  ///< for output that is still in the pipes
constexpr auto kill_limit = 10s;
constexpr auto closing_time = 200ms;  ///< from the end of all output to that of the process: most end at once
constexpr std::size_t stderr_lines = 20;
constexpr std::size_t most_at_once = 16 * 1024;

Instant moment() {
  return std::chrono::steady_clock::now();
}

/// Unlike that of any other server of this machine.
std::string make_mark() {
  static int count = 0;
  return fmt::format("{}.{}.{}", ::getpid(), ++count, moment().time_since_epoch().count());
}

process::Child start(const Launch& launch, const std::string& mark) {
  process::SpawnOptions options;
  options.argv = launch.argv;
  options.env_base = launch.env_base;
  options.env = launch.env;
  options.env[server_variable] = mark;
  options.cwd = launch.cwd;
  options.out = options.err = process::Stdio::pipe();
  return process::spawn(options);
}

/// A descriptor of its own that the loop watches.
asio::posix::stream_descriptor watched(asio::io_context& io, int fd) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw Error(ErrorCode::failed, "cannot watch a process", errno_text(errno));
  return asio::posix::stream_descriptor(io, copy);
}

}  // namespace

class Server::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& io, const Launch& launch)
      : io_(io),
        name_(launch.name),
        mark_(make_mark()),
        child_(start(launch, mark_)),
        out_(watched(io, child_.out.get())),
        err_(watched(io, child_.err.get())),
        exiting_(watched(io, child_.pidfd())) {
    child_.out.reset();
    child_.err.reset();
    for (const std::string& text : launch.watch) output_.watch(text);
  }

  void begin() {
    asio::co_spawn(io_, read(out_, Output::From::out), asio::detached);
    asio::co_spawn(io_, read(err_, Output::From::err), asio::detached);
    asio::co_spawn(io_, watch_exit(), [](const std::exception_ptr& failure) {
      if (failure) std::rethrow_exception(failure);
    });
  }

  void abandon() noexcept {
    try {
      abandoned_ = true;
      on_exit_ = nullptr;
      if (running_) {
        process::kill_tree(child_.pid());
        child_.kill_group();
        child_.wait_exit(moment() + kill_limit);
      }
      if (!departed_) process::kill_left_behind(child_.pid(), server_variable, mark_, moment() + stray_limit);
      running_ = false;
      // The coroutines that wait for them end in the loop, if it still turns.
      boost::system::error_code ignored;
      for (auto* const descriptor : {&out_, &err_, &exiting_}) descriptor->close(ignored);
      child_.wait(moment());
      changed();
    } catch (const std::exception&) {
      return;  // /proc or poll itself failed; the Child's own destructor kills the group
    }
  }

  asio::awaitable<void> wait_for(std::function<bool()> so, std::function<bool()> hopeless,
                                 std::string purpose, Instant deadline) {
    const auto keep = shared_from_this();
    Instant patience = deadline;
    while (!so()) {
      const std::string words = text::tail(output_.both().text(), 3, 400);
      const auto fail = [&](ErrorCode code, const std::string& what, const std::string& why) {
        throw Error(
            code, fmt::format("{} did not {}{}", name_, purpose, what),
            words.empty() ? why : fmt::format("{}{}its last words: {}", why, why.empty() ? "" : "; ", words));
      };
      if (departed_) fail(ErrorCode::failed, "", process::describe(exit_));
      if (abandoned_) fail(ErrorCode::failed, "", "it was stopped");
      if (moment() >= patience && running_ && hopeless()) fail(ErrorCode::failed, "", "it closed its output");
      if (moment() >= deadline) fail(ErrorCode::timeout, " in time", "");
      if (running_ && hopeless()) patience = std::min(patience, moment() + closing_time);
      co_await change(patience);
    }
  }

  asio::awaitable<void> wait_for_output(std::string text, std::string purpose, Instant deadline) {
    output_.watch(text);
    return wait_for([this, text = std::move(text)] { return output_.has_said(text); },
                    [this] { return !out_.is_open() && !err_.is_open(); }, std::move(purpose), deadline);
  }
  asio::awaitable<std::string> first_line(std::string purpose, Instant deadline) {
    const auto keep = shared_from_this();
    std::function<bool()> so = [this] { return output_.first_line() != nullptr; };
    std::function<bool()> hopeless = [this] { return !out_.is_open(); };
    co_await wait_for(std::move(so), std::move(hopeless), std::move(purpose), deadline);
    co_return *output_.first_line();
  }

  asio::awaitable<void> must_run(std::string purpose) {
    return wait_for([this] { return running_; }, [] { return false; }, std::move(purpose), Instant::max());
  }

  void on_exit(std::function<void(const std::string& how)> exited) {
    on_exit_ = std::move(exited);
    if (departed_) asio::post(io_, [self = shared_from_this()] { self->tell_exit(); });
  }

  asio::awaitable<Departure> stop(std::chrono::milliseconds grace) {
    const auto keep = shared_from_this();
    const Instant asked = moment();
    on_exit_ = nullptr;
    Departure departure;
    if (running_) child_.signal(SIGTERM);
    while (running_ && moment() < asked + grace) co_await change(asked + grace);
    if (running_) {
      departure.killed = true;
      strays_ += process::kill_tree(child_.pid()) - 1;
      child_.kill_group();
    }
    const Instant limit = moment() + kill_limit;
    while (!departed_ && moment() < limit) co_await change(limit);
    if (!departed_) throw Error(ErrorCode::failed, name_ + " could not be killed");
    departure.exit = exit_;
    departure.exited = exited_;
    departure.took = std::max(exited_ - asked, Nanoseconds::zero());
    departure.strays = strays_;
    co_return departure;
  }

  const std::string& name() const { return name_; }
  pid_t pid() const { return child_.pid(); }
  bool running() const { return running_; }
  const Output& output() const { return output_; }

 private:
  asio::awaitable<void> read(asio::posix::stream_descriptor& pipe, Output::From from) {
    const auto keep = shared_from_this();
    std::string buffer(most_at_once, '\0');
    for (;;) {
      const auto [error, size] =
          co_await pipe.async_read_some(asio::buffer(buffer), asio::as_tuple(asio::use_awaitable));
      if (error) break;
      output_.add(from, std::string_view(buffer).substr(0, size));
      changed();
    }
    boost::system::error_code ignored;
    pipe.close(ignored);
    changed();
  }

  asio::awaitable<void> watch_exit() {
    const auto keep = shared_from_this();
    const auto [error] = co_await exiting_.async_wait(asio::posix::stream_descriptor::wait_read,
                                                      asio::as_tuple(asio::use_awaitable));
    if (error || abandoned_) co_return;
    exited_ = moment();
    running_ = false;
    strays_ += process::kill_left_behind(child_.pid(), server_variable, mark_, exited_ + stray_limit);
    const Instant limit = moment() + drain_limit;
    while ((out_.is_open() || err_.is_open()) && moment() < limit) co_await change(limit);
    if (abandoned_) co_return;
    exit_ = child_.wait(moment()).value_or(process::Exit{});
    departed_ = true;
    changed();
    tell_exit();
  }

  void tell_exit() {
    if (const auto exited = std::exchange(on_exit_, nullptr)) exited(process::describe(exit_));
  }

  /// Until something has changed, or the deadline.
  asio::awaitable<void> change(Instant deadline) {
    asio::steady_timer timer(io_, deadline);
    const auto place = waiting_.insert(waiting_.end(), &timer);
    const std::unique_ptr<void, std::function<void(void*)>> leave(this,
                                                                  [&](void*) { waiting_.erase(place); });
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  void changed() {
    for (asio::steady_timer* const timer : waiting_) timer->cancel();
  }

  asio::io_context& io_;
  std::string name_;
  std::string mark_;
  process::Child child_;
  asio::posix::stream_descriptor out_;
  asio::posix::stream_descriptor err_;
  asio::posix::stream_descriptor exiting_;
  Output output_;
  std::list<asio::steady_timer*> waiting_;
  std::function<void(const std::string&)> on_exit_;
  process::Exit exit_;
  Instant exited_;
  std::size_t strays_ = 0;
  bool running_ = true;
  bool departed_ = false;  ///< it has exited, and all that it said and started is accounted for
  bool abandoned_ = false;
};

Server::Server(asio::io_context& io, const Launch& launch) : impl_(std::make_shared<Impl>(io, launch)) {
  impl_->begin();
}

Server::~Server() {
  impl_->abandon();
}

const std::string& Server::name() const {
  return impl_->name();
}
pid_t Server::pid() const {
  return impl_->pid();
}
bool Server::running() const {
  return impl_->running();
}

asio::awaitable<void> Server::wait_for_output(std::string text, std::string purpose, Instant deadline) {
  return impl_->wait_for_output(std::move(text), std::move(purpose), deadline);
}
asio::awaitable<std::string> Server::first_line(std::string purpose, Instant deadline) {
  return impl_->first_line(std::move(purpose), deadline);
}
asio::awaitable<void> Server::must_run(std::string purpose) {
  return impl_->must_run(std::move(purpose));
}
void Server::on_exit(std::function<void(const std::string& how)> exited) {
  impl_->on_exit(std::move(exited));
}

std::string Server::output_tail() const {
  return std::string(impl_->output().both().text());
}
std::string Server::stderr_tail() const {
  return impl_->output().err().lines(stderr_lines);
}
bool Server::has_said(std::string_view text) const {
  return impl_->output().has_said(text);
}

std::optional<CpuTime> Server::tree_cpu() const {
  return running() ? tree_cpu_of(pid()) : std::nullopt;
}
std::optional<CpuTime> Server::main_thread_cpu() const {
  return running() ? main_thread_cpu_of(pid()) : std::nullopt;
}
std::optional<process::TreeUsage> Server::usage(process::TreeFields fields) const {
  return running() ? process::read_tree(pid(), fields) : std::nullopt;
}

asio::awaitable<Departure> Server::stop(std::chrono::milliseconds grace) {
  return impl_->stop(grace);
}

}  // namespace tare::lab_gateway
