#include "runtime/guest_driver/lane.hpp"

#include <csignal>
#include <vector>

#include <fmt/format.h>

namespace tare::guest_driver {
namespace {

using guest::Ended;
using guest::Execution;
using guest::Exit;
using guest::Stdout;

/// The exit of a guest whose output goes to `output`; nothing when it is late.
std::optional<Exit> finish(Execution& guest, Instant deadline, std::string* output) {
  for (;;) {
    const auto event = guest.poll_event(deadline);
    if (!event) return std::nullopt;
    if (const auto* ended = std::get_if<Ended>(&*event)) return ended->exit;
    if (const auto* out = std::get_if<Stdout>(&*event); out != nullptr && output != nullptr)
      *output += out->bytes;
  }
}

void count(const Exit& exit, Sample& sample) {
  judge(exit, sample);
  if (exit.code || exit.signal) ++sample.counters["exits"];
  if (exit.code != 0) ++sample.counters["nonZero"];
}

void count_single(const Exit& exit, Sample& sample) {
  if (exit.code) sample.counters["exitCode"] = *exit.code;
  if (exit.signal) sample.counters["signal"] = *exit.signal;
  if (exit.files_synced) {
    sample.counters["syncFiles"] = static_cast<std::int64_t>(*exit.files_synced);
  } else {
    sample.counters["syncSkipped"] = 1;
  }
}

void add_life(Execution& guest, Sample& sample) {
  const std::optional<guest::Life> life = guest.life();
  if (!life || !life->route) return;
  if (!sample.lifecycle) sample.lifecycle.emplace();
  sample.lifecycle->push_back({boost::describe::enum_to_string(*life->route, ""), life->first_waiter,
                               life->waiters, guest::phases(*life)});
}

}  // namespace

void judge(const Exit& exit, Sample& sample) {
  if (exit.is(guest::reason::refused)) {
    sample.fail("refused", exit.detail.value_or("the engine refused a guest"));
  } else if (exit.reason && !exit.is(guest::reason::killed)) {
    sample.fail("failed", guest::describe(exit));
  } else if (exit.files_lost > 0) {
    sample.fail("failed", exit.sync_problems.empty() ? "a written file did not come back to the host"
                                                     : exit.sync_problems.front());
  }
}

bool is_at_rest(const guest::Engine& engine, std::uint32_t pool) {
  const auto counters = engine.stats();
  const auto ready = counters.find("poolReady");
  const auto live = counters.find("liveGuests");
  return (live == counters.end() || live->second == 0) &&
         (ready == counters.end() || ready->second >= std::int64_t{pool});
}

Sample run_in(guest::Vm& vm, const Operation& operation, Instant deadline) {
  const SystemClock clock;
  Sample sample;
  guest::SpawnOptions options;
  options.argv = {"node", "-e", operation.script};
  options.cwd = operation.cwd;
  options.stdio = operation.stdio;
  std::vector<Execution> guests;
  guests.reserve(operation.count);
  std::vector<std::optional<Exit>> exits;
  exits.reserve(operation.count);
  std::string output;
  const bool captures = operation.stdio == guest::Stdio::pipe;

  const Instant start = clock.now();
  for (std::uint32_t i = 0; i < operation.count; ++i) guests.push_back(vm.spawn(options));
  const Instant spawned = clock.now();
  if (operation.input) {
    guests.front().write_stdin(*operation.input);
    guests.front().close_stdin();
  }
  for (Execution& guest : guests) {
    exits.push_back(finish(guest, deadline, captures ? &output : nullptr));
    if (!exits.back()) break;
  }
  const Instant end = clock.now();

  sample.ns = {{"total", (end - start).count()},
               {"spawn", (spawned - start).count()},
               {"wait", (end - spawned).count()}};
  if (!exits.back()) {
    sample.fail("timeout", "");
    sample.ns.erase("spawn");
    sample.ns.erase("wait");
    for (Execution& guest : guests) guest.kill();
    for (Execution& guest : guests) guest.wait(clock.now() + std::chrono::seconds(2));
    return sample;
  }
  sample.counters = {{"exits", 0}, {"nonZero", 0}};
  for (const auto& exit : exits) count(*exit, sample);
  if (operation.count == 1) count_single(*exits.front(), sample);
  if (captures) sample.output = std::move(output);
  for (Execution& guest : guests) add_life(guest, sample);
  return sample;
}

guest::VmOptions vm_options() {
  guest::VmOptions options;
  options.permissions.fs = guest::Access::allow;
  options.permissions.child_process = guest::Access::allow;
  options.permissions.env = guest::Access::allow;
  options.limits.processes = 1200;  // a fan-out has at most 1000
  options.env = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/root"}};
  return options;
}

void Lane::wake(const std::optional<std::string>& dir) {
  if (dir != dir_) close();
  dir_ = dir;
  if (!engine_) {
    guest::EngineOptions options = options_;
    if (dir) options.roots.emplace_back(*dir);
    engine_ = guest::Engine::start(std::move(options));
  }
  if (vm_) return;
  guest::VmOptions options = vm_options();
  if (dir) options.mounts.push_back({*dir, host_folder, guest::MountAccess::rw});
  vm_ = engine_->create_vm(options);
}

void Lane::close() {
  vm_.reset();
  engine_.reset();
}

std::string late_text(std::uint32_t timeout_ms) {
  return fmt::format("not done after {} ms", timeout_ms);
}

}  // namespace tare::guest_driver
