#include "engine/isolate/loop.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <pthread.h>
#include <utility>

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/isolate/guest.hpp"
#include "engine/isolate/native.hpp"
#include "engine/kernel/trace.hpp"

namespace tare::engine {

using kernel::Description;
using v8::HandleScope;
using v8::Local;
using v8::Value;

namespace {

bool ready_now(const Description& description, Description::Direction direction) {
  return direction == Description::Direction::read ? description.readable() : description.writable();
}

constexpr timespec at_once{};

bool ending(v8::Isolate* isolate) {
  const Guest* guest = guest_of(isolate);
  return guest == nullptr || guest->ending();
}

/// The pages of this thread's stack below what is in use. Their contents mean nothing.
void release_stack() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* low = nullptr;
  std::size_t size = 0;
  ::pthread_attr_getstack(&attributes, &low, &size);
  ::pthread_attr_destroy(&attributes);
  constexpr std::uintptr_t margin = 32 << 10;  // for what this call itself needs
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t used = (reinterpret_cast<std::uintptr_t>(&attributes) - margin) & ~(page - 1);
  const auto begin = reinterpret_cast<std::uintptr_t>(low);
  if (used > begin) ::madvise(low, used - begin, MADV_DONTNEED);
}

}  // namespace

void Loop::Port::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    work_.push_back(std::move(work));
  }
  wait_->wake();
}

std::vector<std::function<void()>> Loop::Port::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(work_, {});
}

void Loop::Port::close() {
  std::vector<std::function<void()>> dropped;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(work_);
}

Loop::Loop(Realm& realm, std::shared_ptr<kernel::Wait> wait, ForegroundTasks& tasks, kernel::Trace* trace)
    : realm_(realm),
      wait_(std::move(wait)),
      tasks_(tasks),
      trace_(trace),
      port_(std::make_shared<Port>(wait_)),
      start_(std::chrono::steady_clock::now()),
      immediate_info_(realm.shared<std::uint32_t>("immediateInfo")) {
  tasks_.set_wake([wait = wait_] { wait->wake(); });
}

Loop::~Loop() {
  tasks_.set_wake(nullptr);
  port_->close();
  for (auto& [id, watch] : watches_) watch.description->unwatch(wait_, watch.direction);
}

bool Loop::alive() const {
  if (requests_ > 0 || pending_ || (timer_at_ms_ && timer_counted_)) return true;
  if (immediate_counted_ && immediate_info_[1] > 0) return true;
  return std::ranges::any_of(watches_, [](const auto& one) { return one.second.counted; });
}

Loop::WatchId Loop::watch(std::shared_ptr<Description> description, Description::Direction direction,
                          Local<v8::Function> ready) {
  const WatchId id = next_watch_++;
  description->watch(wait_, direction);
  const std::optional<int> host_fd = description->host_fd();
  watches_.emplace(id, Watch{std::move(description), direction, {realm_.isolate(), ready}, host_fd});
  return id;
}

void Loop::unwatch(WatchId id) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  found->second.description->unwatch(wait_, found->second.direction);
  watches_.erase(found);
}

void Loop::set_counted(WatchId id, bool counted) {
  const auto found = watches_.find(id);
  if (found != watches_.end()) found->second.counted = counted;
}

void Loop::update_now() {
  now_ms_ = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_)
                .count();
}

std::int64_t Loop::now_ms() const {
  return now_ms_;
}

void Loop::schedule_timer(std::int64_t ms) {
  timer_at_ms_ = now_ms_ + std::max<std::int64_t>(ms, 1);
}

void Loop::turn(Sleep sleep_allowed) {
  const kernel::Stopwatch whole(trace_);
  const kernel::Wait::Ticket ticket = wait_->ticket();
  update_now();
  run_timers();
  const auto poll_once = [&] {
    tasks_.run_some();
    bool did = run_posted();
    did = run_watches() || did;
    return run_pending() || did;
  };
  const bool did = poll_once();
  const bool immediates = immediate_info_[0] > 0 || immediate_info_[2] > 0;
  if (!did && !immediates && sleep_allowed == Sleep::yes && alive() && !ending(realm_.isolate())) {
    const kernel::Stopwatch sleeping(trace_);
    sleep(ticket);
    sleeping.record(kernel::Stage::js_event_wait);
    update_now();
    poll_once();
  } else if (poll_host(&at_once)) {
    run_watches();
  }
  run_immediates();
  whole.record(kernel::Stage::js_event_turn);
}

void Loop::run_timers() {
  if (!timer_at_ms_ || *timer_at_ms_ > now_ms_ || ending(realm_.isolate())) return;
  timer_at_ms_.reset();
  const HandleScope scope(realm_.isolate());
  std::array<Local<Value>, 1> now{v8::Number::New(realm_.isolate(), static_cast<double>(now_ms_))};
  Local<Value> next;
  // When a timer throws and somebody handles that, the others of its list still have to run, before any tick.
  while (!realm_.call_bare("processTimers", now).ToLocal(&next)) {
    if (ending(realm_.isolate())) return;
  }
  // Before the ticks: what they start or stop comes on top of it.
  const auto expiry = static_cast<std::int64_t>(next.As<v8::Number>()->Value());
  timer_counted_ = expiry > 0;
  if (expiry != 0) {
    update_now();
    schedule_timer(std::abs(expiry) - now_ms_);
  }
  realm_.tick();
}

bool Loop::run_posted() {
  const std::vector<std::function<void()>> work = port_->take();
  for (const std::function<void()>& one : work) {
    if (ending(realm_.isolate())) break;
    const HandleScope scope(realm_.isolate());
    one();
  }
  return !work.empty();
}

bool Loop::run_watches() {
  std::vector<WatchId> ready;
  for (auto& [id, watch] : watches_) {
    if (watch.host_fd ? std::exchange(watch.host_ready, false)
                      : ready_now(*watch.description, watch.direction))
      ready.push_back(id);
  }
  for (const WatchId id : ready) {
    const auto found = watches_.find(id);  // an earlier one may have stopped it
    if (found == watches_.end() || ending(realm_.isolate())) continue;
    const HandleScope scope(realm_.isolate());
    (void)realm_.call(found->second.ready.Get(realm_.isolate()));
  }
  return !ready.empty();
}

bool Loop::run_pending() {
  if (!std::exchange(pending_, false) || ending(realm_.isolate())) return false;
  const HandleScope scope(realm_.isolate());
  // One after another, each with its ticks behind it. Nothing comes back when one of them threw: on with the
  // others, if somebody handled that. What they enqueue is for the next turn.
  for (;;) {
    Local<Value> more;
    const bool returned = realm_.call("drain").ToLocal(&more);
    if (ending(realm_.isolate()) || (returned && !more->IsTrue())) return true;
  }
}

void Loop::run_immediates() {
  {
    // What a tick that threw has left over comes before them.
    const HandleScope scope(realm_.isolate());
    realm_.tick();
  }
  if ((immediate_info_[0] == 0 && immediate_info_[2] == 0) || ending(realm_.isolate())) return;
  do {
    const HandleScope scope(realm_.isolate());
    (void)realm_.call("processImmediate");
  } while (immediate_info_[2] != 0 && !ending(realm_.isolate()));
  if (immediate_info_[1] == 0) immediate_counted_ = false;
}

std::optional<Instant> Loop::deadline() const {
  std::optional<Instant> until = tasks_.next();
  if (timer_at_ms_) {
    const Instant timer = start_ + std::chrono::milliseconds(*timer_at_ms_);
    if (!until || timer < *until) until = timer;
  }
  return until;
}

void Loop::sleep(kernel::Wait::Ticket ticket) {
  // A guest that has nothing to do for a while is likely to have nothing to do for long: what it took to get
  // here, garbage and stack, is then given back, once.
  constexpr auto a_while = std::chrono::milliseconds(100);
  const std::optional<Instant> until = deadline();
  const Instant settle = std::chrono::steady_clock::now() + a_while;
  if (settled_ || (until && *until <= settle)) {
    wait(ticket, until);
    return;
  }
  wait(ticket, settle);
  if (wait_->ticket() != ticket || wait_->interrupted() || std::chrono::steady_clock::now() < settle) return;
  settled_ = true;
  realm_.isolate()->MemoryPressureNotification(v8::MemoryPressureLevel::kCritical);
  realm_.isolate()->MemoryPressureNotification(v8::MemoryPressureLevel::kNone);
  if (Guest* guest = guest_of(realm_.isolate())) {
    guest->receive_room().drop();
    guest->isolate().buffers().blocks().trim();
  }
  release_stack();
}

void Loop::wait(kernel::Wait::Ticket ticket, std::optional<Instant> until) {
  if (std::ranges::none_of(watches_, [](const auto& one) { return one.second.host_fd.has_value(); })) {
    (void)(until ? wait_->block_until(ticket, *until) : wait_->block(ticket));
    return;
  }
  const auto event = wait_->event_fd();
  if (!event.ok()) return;  // no descriptor left: this turn does not sleep
  if (eager_.sees([&] { return poll_host(&at_once) || wait_->ticket() != ticket || wait_->interrupted(); }))
    return;
  const bool woken = wait_->ticket() != ticket || wait_->interrupted();
  timespec timeout{};
  if (until && !woken) {
    const auto left = std::max(Instant::duration::zero(), *until - std::chrono::steady_clock::now());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    timeout = {seconds.count(), std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds).count()};
  }
  (void)poll_host(until || woken ? &timeout : nullptr, *event);
}

bool Loop::poll_host(const timespec* timeout, int event) {
  polled_.clear();
  for (const auto& [id, watch] : watches_) {
    if (!watch.host_fd) continue;
    const short wanted = watch.direction == Description::Direction::read ? POLLIN : POLLOUT;
    polled_.push_back({*watch.host_fd, wanted, 0});
  }
  if (polled_.empty()) return false;
  polled_.push_back({event, POLLIN, 0});
  if (::ppoll(polled_.data(), polled_.size(), timeout, nullptr) <= 0) return false;
  if (polled_.back().revents != 0) wait_->drain_event_fd();
  bool any = false;
  auto polled = polled_.begin();
  for (auto& [id, watch] : watches_) {
    if (!watch.host_fd) continue;
    watch.host_ready = (polled++)->revents != 0;
    any = any || watch.host_ready;
  }
  return any;
}

}  // namespace tare::engine
