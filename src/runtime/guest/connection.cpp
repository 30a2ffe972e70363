#include "runtime/guest/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.hpp"
#include "runtime/guest/installation.hpp"

namespace tare::guest {
namespace {

constexpr std::chrono::seconds reply_limit{30};
constexpr std::chrono::seconds leave_limit{2};
constexpr std::size_t guests_named = 5;

/// What poll found of one socket; 0 when the deadline has passed.
short poll_one(int fd, short events, std::optional<Instant> deadline) {
  pollfd entry{fd, events, 0};
  for (;;) {
    timespec left{};
    if (deadline) {
      const Nanoseconds rest = std::max(Nanoseconds(0), *deadline - SystemClock().now());
      left = {static_cast<time_t>(rest.count() / 1'000'000'000),
              static_cast<long>(rest.count() % 1'000'000'000)};
    }
    const int n = ::ppoll(&entry, 1, deadline ? &left : nullptr, nullptr);
    if (n > 0) return entry.revents;
    if (n == 0) return 0;
    if (errno != EINTR) throw Error(ErrorCode::failed, "cannot wait for the guest engine", errno_text(errno));
  }
}

}  // namespace

struct Connection::Waiter {
  const void* subject;  ///< what it waits for
  std::condition_variable condition;
  bool woken = false;
};

Connection::Connection(std::vector<std::string> argv, Nanoseconds limit, LogSink log) : log_(std::move(log)) {
  SocketPair pair = make_socket_pair();
  child_ = std::make_unique<Child>(ChildOptions{std::move(argv), engine_environment(), pair.theirs.get()});
  pair.theirs.reset();  // else its end would never be seen
  socket_ = std::move(pair.ours);
  receiver_ = Receiver(socket_.get());
  statm_ = Fd(::open(fmt::format("/proc/{}/statm", child_->pid()).c_str(), O_RDONLY | O_CLOEXEC));
  Lock lock(mutex_);
  const bool in_time =
      wait_for(lock, this, [this] { return is_ready_ || lost_; }, SystemClock().now() + limit);
  if (in_time && !lost_) return;
  const std::string late = fmt::format("not ready after {} ms", limit / std::chrono::milliseconds(1));
  throw Error(ErrorCode::failed, "the guest engine did not start", lost_.value_or(late));
}

Connection::~Connection() {
  stop();
}

std::uint32_t Connection::next_id() {
  const Lock lock(mutex_);
  if (++last_id_ == 0) ++last_id_;
  return last_id_;
}

void Connection::send(Kind kind, std::uint32_t id, std::string_view payload, int passed) {
  const std::string frame = encode(kind, id, payload);
  const Lock one_at_a_time(sending_);
  write(frame, passed);
}

/// To be called with `sending_` held.
void Connection::write(std::string_view rest, int passed) {
  while (!rest.empty()) {
    const ssize_t sent = send_some(socket_.get(), rest, passed, MSG_DONTWAIT);
    if (sent > 0) {
      passed = -1;
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (sent == -EAGAIN) {
      wait_until_sendable();
    } else {
      Lock lock(mutex_);
      // What the engine said last is still in the socket: who exited before it died is not lost.
      wait_for(lock, nullptr, [this] { return lost_.has_value(); }, std::nullopt);
      throw lost_error();
    }
  }
}

void Connection::wait_until_sendable() {
  const short events = poll_one(socket_.get(), POLLIN | POLLOUT, std::nullopt);
  if ((events & POLLOUT) != 0 || (events & POLLIN) == 0) return;
  if (take_in()) return;
  // Another thread reads.
  poll_one(socket_.get(), POLLOUT, std::nullopt);
}

bool Connection::take_in() {
  Lock lock(mutex_);
  if (reading_) return false;
  read_once(lock, SystemClock().now());
  pass_reading_on();
  return true;
}

Reply Connection::request(Kind kind, std::uint32_t id, std::string_view payload) {
  return await(*ask(kind, id, payload));
}

std::shared_ptr<Connection::PendingReply> Connection::ask(Kind kind, std::uint32_t id,
                                                          std::string_view payload) {
  const auto pending = std::make_shared<PendingReply>();
  const std::string frame = encode(kind, id, payload);
  {
    // The engine answers in the order in which it was asked.
    const Lock one_at_a_time(sending_);
    {
      const Lock lock(mutex_);
      if (lost_) throw lost_error();
      replies_[id].push_back(pending);
    }
    write(frame, -1);
  }
  return pending;
}

Reply Connection::await(PendingReply& pending) {
  Lock lock(mutex_);
  const bool in_time =
      wait_for(lock, &pending, [&] { return pending.reply || lost_; }, SystemClock().now() + reply_limit);
  if (pending.reply) return *pending.reply;
  if (in_time) throw lost_error();
  throw Error(ErrorCode::timeout, "the guest engine does not answer",
              fmt::format("no reply within {} s", reply_limit.count()));
}

std::shared_ptr<Connection::Record> Connection::spawn(std::uint32_t id, const Spawn& message, int passed) {
  auto record = std::make_shared<Record>();
  if (ready_.trace.value_or(false)) record->life.emplace().spawned = SystemClock().now();
  if (message.profiles) record->profiles = std::make_shared<Profiles>();
  record->command = text::one_line(text::join(message.argv, " "));
  const std::string frame = encode(Kind::spawn, id, json::line(message));
  const Lock one_at_a_time(sending_);
  {
    const Lock lock(mutex_);
    if (lost_) throw lost_error();
    living_.emplace(id, record);
  }
  write(frame, passed);
  if (ready_.trace.value_or(false)) {
    const Lock lock(mutex_);
    record->life->sent = record->life->spawn_returned.emplace(SystemClock().now());
  }
  return record;
}

bool Connection::wait(const std::shared_ptr<Record>& record, Done done, std::optional<Instant> deadline,
                      const char* who) {
  Lock lock(mutex_);
  if (!record->life) return wait_for(lock, record.get(), [&] { return done(*record); }, deadline);
  Life& life = *record->life;
  if (life.first_waiter.empty()) life.first_waiter = who;
  ++life.waiters[who];
  if (!life.wait_began) life.wait_began = SystemClock().now();
  const bool known = record->exit.has_value();
  const bool in_time = wait_for(lock, record.get(), [&] { return done(*record); }, deadline);
  if (!record->exit || life.observed) return in_time;
  life.observed = SystemClock().now();
  life.route = known                                       ? Route::already_known
               : life.reader == std::this_thread::get_id() ? Route::own_read
                                                           : Route::other_read;
  return in_time;
}

Connection::Record Connection::look(const std::shared_ptr<Record>& record) {
  const Lock lock(mutex_);
  return *record;
}

/// True once done; false when the deadline has passed.
bool Connection::wait_for(Lock& lock, const void* subject, const std::function<bool()>& done,
                          std::optional<Instant> deadline) {
  bool in_time = true;
  while (!done() && in_time) {
    if (!reading_) {
      in_time = read_once(lock, deadline);
      continue;
    }
    Waiter waiter{subject, {}, false};
    const auto place = waiters_.insert(waiters_.end(), &waiter);
    const auto woken = [&] { return waiter.woken; };
    if (deadline) {
      in_time = waiter.condition.wait_until(lock, *deadline, woken);
    } else {
      waiter.condition.wait(lock, woken);
    }
    waiters_.erase(place);
  }
  pass_reading_on();
  return in_time || done();
}

/// Somebody who waits reads from now on, if nobody does. To be called with `mutex_` held, by whoever has
/// read.
void Connection::pass_reading_on() {
  if (reading_ || waiters_.empty()) return;
  waiters_.front()->woken = true;
  waiters_.front()->condition.notify_one();
}

/// Waits for bytes without the lock, and does what they say with it. False when the deadline has passed.
bool Connection::read_once(Lock& lock, std::optional<Instant> deadline) {
  if (lost_) return true;
  reading_ = true;
  lock.unlock();
  std::string_view bytes;
  std::string broken;
  bool arrived = true;
  try {
    if (deadline) arrived = poll_one(socket_.get(), POLLIN, deadline) != 0;
    if (arrived) bytes = receiver_.receive();
  } catch (const Error& error) {
    broken = error.why();
  }
  lock.lock();
  if (!broken.empty() || (arrived && bytes.empty())) {
    lose(lock, broken);
  } else if (arrived) {
    try {
      decoder_.append(bytes);
      while (const auto frame = decoder_.next()) dispatch(*frame);
    } catch (const Error& error) {
      lose(lock, error.why().empty() ? error.what() : error.why());
    }
  }
  reading_ = false;
  if (std::vector<Log> logs = std::exchange(logs_, {}); log_ && !logs.empty()) {
    lock.unlock();
    for (const Log& entry : logs) log_(entry.level, entry.text);
    lock.lock();
  }
  return arrived;
}

void Connection::dispatch(const Frame& frame) {
  switch (frame.kind) {
    case Kind::ready:
      ready_ = parse<Ready>(frame.payload);
      if (ready_.node.starts_with('v')) ready_.node.erase(0, 1);  // as Node itself writes it
      is_ready_ = true;
      wake(this);
      break;
    case Kind::started:
      if (const auto found = living_.find(frame.id); found != living_.end()) {
        if (found->second->life) found->second->life->started = SystemClock().now();
        found->second->pid = parse<Started>(frame.payload).pid;
        wake(found->second.get());
      }
      break;
    case Kind::exited:
      on_exited(frame);
      break;
    case Kind::profile:
      on_profile(frame);
      break;
    case Kind::log:
      logs_.push_back(parse<Log>(frame.payload));
      break;
    case Kind::reply:
      on_reply(frame);
      break;
    default:
      break;  // of an engine that knows more
  }
}

void Connection::on_exited(const Frame& frame) {
  const auto found = living_.find(frame.id);
  if (found == living_.end()) return;
  Record& record = *found->second;
  if (record.life) {
    record.life->exit_received = SystemClock().now();
    record.life->reader = std::this_thread::get_id();
  }
  record.exit = exit_of(parse<Exited>(frame.payload));
  if (record.life) record.life->exit_known = SystemClock().now();
  wake(&record);
  if (record.life) record.life->told = SystemClock().now();
  living_.erase(found);
}

void Connection::on_profile(const Frame& frame) {
  const auto found = living_.find(frame.id);
  if (found == living_.end() || found->second->profiles == nullptr) return;
  const ProfileFrame part = decode_profile(frame.payload);
  Profile& profile = (*found->second->profiles)[part.part.kind];
  if (profile.json.size() + part.bytes.size() > profile_limit)
    throw Error(ErrorCode::input, "guest message", "a profile beyond its limit");
  profile.json += part.bytes;
  profile.error = part.part.error;
  profile.whole = part.part.last && !profile.error;
}

void Connection::on_reply(const Frame& frame) {
  const auto found = replies_.find(frame.id);
  if (found == replies_.end()) return;
  const auto pending = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) replies_.erase(found);
  pending->reply = parse<Reply>(frame.payload);
  wake(pending.get());
}

void Connection::wake(const void* subject) {
  for (Waiter* waiter : waiters_) {
    if (waiter->subject != subject && !lost_) continue;
    waiter->woken = true;
    waiter->condition.notify_one();
  }
}

/// How the process ended, which may take a moment after its socket has closed.
std::string Connection::cause_of_loss() {
  if (!child_->wait(leave_limit)) {
    child_->kill();
    child_->wait(leave_limit);
    return "it closed its socket and stayed";
  }
  const std::string words = child_->last_words();
  return words.empty() ? child_->how_it_ended() : child_->how_it_ended() + ": " + words;
}

/// Takes the lock away for a moment; `reading_` keeps others from reading meanwhile.
void Connection::lose(Lock& lock, const std::string& why) {
  lock.unlock();
  if (!why.empty()) child_->kill();  // whatever it says next, nobody can understand it
  const std::string cause = cause_of_loss();
  lock.lock();
  lost_ = why.empty() ? cause : why;
  for (auto& [id, record] : living_) {
    Exit exit;
    exit.reason = std::string(reason::lost);
    exit.detail = fmt::format("the guest engine was lost ({}), and with it: {}", *lost_, record->command);
    record->exit = std::move(exit);
  }
  living_.clear();
  replies_.clear();
  wake(nullptr);
}

Error Connection::lost_error() const {
  return Error(ErrorCode::failed, "the guest engine was lost", lost_.value_or("its socket is closed"),
               "create the virtual machine again");
}

std::optional<std::string> Connection::lost() {
  const Lock lock(mutex_);
  if (!lost_ && !child_->alive()) return child_->how_it_ended();
  return lost_;
}

std::optional<std::uint64_t> Connection::resident_bytes() const {
  std::array<char, 128> text{};
  const ssize_t size = ::pread(statm_.get(), text.data(), text.size() - 1, 0);
  unsigned long long resident = 0;
  if (size <= 0 || std::sscanf(text.data(), "%*u %llu", &resident) != 1) return std::nullopt;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

Connection::Stopped Connection::stop() {
  Stopped stopped;
  {
    const Lock lock(mutex_);
    for (const auto& [id, record] : living_) {
      if (stopped.guests.size() < guests_named) stopped.guests.push_back(record->command);
    }
  }
  ::shutdown(socket_.get(), SHUT_RDWR);  // the engine sees its end; the descriptor stays ours
  if (!child_->wait(leave_limit)) {
    stopped.forced = true;
    child_->kill();
    child_->wait(leave_limit);
  }
  return stopped;
}

}  // namespace tare::guest
