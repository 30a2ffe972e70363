#include "runtime/guest_driver/lifecycle.hpp"

#include <cstdlib>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "runtime/guest_driver/lane.hpp"
#include "runtime/guest_driver/processes.hpp"
#include "runtime/guest_driver/scripts.hpp"

namespace tare::guest_driver {
namespace {

using guest::Engine;
using guest::Execution;
using guest::Vm;

// Memory counts once it is steady: the pool fills a moment after a start.
constexpr std::int64_t steady_bytes = std::int64_t{1} << 20;
constexpr std::chrono::milliseconds steady_window{100};
constexpr int steady_windows = 50;

/// Ends a sample before its time.
struct Unfinished {
  std::string outcome;
  std::string error;
};

[[noreturn]] void late() {
  throw Unfinished{"timeout", ""};
}

std::int64_t run_guest(Vm& vm, Instant deadline) {
  const Sample sample = run_in(vm, {.script = exit_script, .cwd = {}, .input = {}}, deadline);
  if (sample.outcome != "ok") throw Unfinished{sample.outcome, sample.error.value_or("")};
  const auto code = sample.counters.find("exitCode");
  if (code == sample.counters.end()) throw Unfinished{"failed", "a guest ended without an exit code"};
  return code->second;
}

std::optional<std::uint64_t> steady_memory(const Engine& engine, Instant deadline) {
  auto before = pss_of(engine.pids());
  for (int i = 0; i < steady_windows; ++i) {
    std::this_thread::sleep_for(steady_window);
    if (SystemClock().now() > deadline) late();
    const auto after = pss_of(engine.pids());
    if (!before || !after) return std::nullopt;
    const auto change = static_cast<std::int64_t>(*after) - static_cast<std::int64_t>(*before);
    if (std::abs(change) <= steady_bytes) return after;
    before = after;
  }
  return before;
}

/// Waits for the line that says that it runs.
void wait_until_up(Execution& guest, Instant deadline) {
  for (;;) {
    const auto event = guest.poll_event(deadline);
    if (!event) late();
    if (std::holds_alternative<guest::Stdout>(*event)) return;
    const auto* ended = std::get_if<guest::Ended>(&*event);
    if (ended == nullptr) continue;
    const char* how = ended->exit.is(guest::reason::refused) ? "refused" : "failed";
    throw Unfinished{how, "a guest that should stay " + guest::describe(ended->exit)};
  }
}

template <class Steps>
Sample bounded(const Steps& steps) {
  const Instant start = SystemClock().now();
  Sample sample;
  try {
    steps(sample);
    return sample;
  } catch (const Unfinished& unfinished) {
    sample = Sample();
    sample.fail(unfinished.outcome, unfinished.error);
  } catch (const Error& error) {
    sample = Sample();
    sample.fail("failed", error.line());
  }
  sample.ns["total"] = (SystemClock().now() - start).count();
  return sample;
}

/// One after another; counts how they ended.
void run_guests(Vm& vm, std::uint32_t count, Sample& sample, Instant deadline) {
  std::int64_t& exits = sample.counters["exits"] = 0;
  std::int64_t& non_zero = sample.counters["nonZero"] = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (run_guest(vm, deadline) != 0) ++non_zero;
    ++exits;
  }
}

}  // namespace

Sample cold_start(const guest::EngineOptions& options, Instant deadline) {
  return bounded([&](Sample& sample) {
    const SystemClock clock;
    const Instant begin = clock.now();
    Engine engine = Engine::start(options);
    Vm vm = engine.create_vm(vm_options());
    const Instant created = clock.now();
    sample.counters["exitCode"] = run_guest(vm, deadline);
    const Instant first = clock.now();
    sample.counters["warmExitCode"] = run_guest(vm, deadline);
    const Instant warm = clock.now();
    const std::vector<int> pids = engine.pids();
    engine.stop();
    const Instant end = clock.now();
    sample.counters["leftRunning"] = running(pids);
    sample.ns = {{"total", (end - begin).count()},
                 {"create", (created - begin).count()},
                 {"first_exec", (first - created).count()},
                 {"warm_exec", (warm - first).count()},
                 {"dispose", (end - warm).count()}};
  });
}

Sample memory(const guest::EngineOptions& options, std::uint32_t guests, Instant deadline) {
  const Instant begin = SystemClock().now();
  return bounded([&](Sample& sample) {
    Engine engine = Engine::start(options);
    sample.bytes["idle"] = steady_memory(engine, deadline);
    Vm vm = engine.create_vm(vm_options());
    run_guest(vm, deadline);
    sample.bytes["vm"] = steady_memory(engine, deadline);

    guest::SpawnOptions stay;
    stay.argv = {"node", "-e", stay_script};
    stay.stdio = guest::Stdio::pipe;
    std::vector<Execution> staying;
    for (std::uint32_t i = 0; i < guests; ++i) staying.push_back(vm.spawn(stay));
    for (Execution& guest : staying) wait_until_up(guest, deadline);
    sample.counters["guests"] = static_cast<std::int64_t>(staying.size());
    sample.bytes["live_guests"] = steady_memory(engine, deadline);

    for (Execution& guest : staying) guest.kill();
    std::int64_t exits = 0;
    for (Execution& guest : staying) {
      const auto exit = guest.wait(deadline);
      if (!exit) late();
      if (exit->code || exit->signal) ++exits;
    }
    sample.counters["exits"] = exits;
    staying.clear();
    sample.bytes["after_kill"] = steady_memory(engine, deadline);
    vm.dispose();
    sample.bytes["after_dispose"] = steady_memory(engine, deadline);
    sample.ns["total"] = (SystemClock().now() - begin).count();
  });
}

Sample growth(const guest::EngineOptions& options, std::uint32_t warmup, std::uint32_t processes,
              Instant deadline) {
  const Instant begin = SystemClock().now();
  return bounded([&](Sample& sample) {
    Engine engine = Engine::start(options);
    Vm vm = engine.create_vm(vm_options());
    run_guests(vm, warmup, sample, deadline);
    sample.bytes["before"] = steady_memory(engine, deadline);
    run_guests(vm, processes, sample, deadline);
    sample.bytes["after"] = steady_memory(engine, deadline);
    sample.ns["total"] = (SystemClock().now() - begin).count();
  });
}

}  // namespace tare::guest_driver
