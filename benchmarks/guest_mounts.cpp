#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "guest_lanes.hpp"
#include "lab/process/run.hpp"
#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

namespace fs = std::filesystem;

constexpr auto mount_limit = std::chrono::seconds(30);
constexpr int mounted_files = 10'000;
constexpr std::size_t skip_warmup = 50;
constexpr const char* mount_point = "/project";

/// Files of 4 KiB, each of which is written and read again; it says how long that took, in microseconds.
constexpr const char* small_files_script = R"(
const fs = require('node:fs');
const [folder, nonce] = process.argv.slice(-2);
const block = Buffer.alloc(4096, nonce);
const begin = process.hrtime.bigint();
for (let i = 0; i < 500; i++) {
  const name = `${folder}/${nonce}-${i}`;
  fs.writeFileSync(name, block);
  if (!fs.readFileSync(name).equals(block)) process.exit(3);
}
const took = process.hrtime.bigint() - begin;
fs.writeSync(1, `${Number(took) / 1e3}\n`);
process.exit(0);)";
constexpr int small_files = 500;

guest::EngineOptions engine_with(const fs::path& root) {
  guest::EngineOptions options;
  options.roots = {root};
  return options;
}

guest::VmOptions machine_with(const fs::path& host) {
  guest::VmOptions machine = Guests::machine_options();
  machine.mounts = {{host.string(), mount_point, guest::MountAccess::rw}};
  return machine;
}

double exit_ms(guest::Vm& vm, const char* cwd) {
  const SystemClock clock;
  const Instant begin = clock.now();
  guest::SpawnOptions options;
  options.argv = {"node", "-e", "process.exit(0)"};
  options.cwd = cwd;
  guest::Execution execution = vm.spawn(options);
  const auto exit = execution.wait(clock.now() + mount_limit);
  const Instant end = clock.now();
  if (!exit || exit->code != 0) throw Broken("a guest on a mount did not exit with code 0");
  if (exit->files_synced) throw Broken("a guest that wrote nothing did not skip the sync");
  return static_cast<double>((end - begin).count()) / 1e6;
}

Measurement measure_skip() {
  const file::TemporaryFolder folder("tare-bench-mount");
  for (int i = 0; i < mounted_files; ++i) file::write_atomically(folder.path() / std::to_string(i), "x");
  Guests guests(engine_with(folder.path()), machine_with(folder.path()));
  guest::Vm without = guests.engine().create_vm(Guests::machine_options());
  const std::vector<Lane> lanes{[&] { return exit_ms(guests.vm(), mount_point); },
                                [&] { return exit_ms(without, "/root"); }};
  for (std::size_t i = 0; i < skip_warmup; ++i) {
    for (const Lane& lane : lanes) lane();
  }
  const auto figures = interleave(lanes, {.fewest = 500, .most = 3000, .limit = std::chrono::seconds(20)});
  return p50_against(figures[0], figures[1], "one process each");
}

/// The microseconds in a line of output.
double microseconds(std::string_view output) {
  const auto us = text::to_double(text::trim(output));
  if (!us) throw Broken("the writer of small files said '" + text::one_line(output) + "'");
  return *us;
}

void remove_files(const fs::path& folder, const std::string& nonce) {
  for (int i = 0; i < small_files; ++i) {
    if (!fs::remove(folder / fmt::format("{}-{}", nonce, i)))
      throw Broken("a small file is not on the host after its writer has ended");
  }
}

/// A pair of calls in a mount, with its share of the way back to the host, which begins when the guest has
/// said that it is done.
double guest_pair_us(Guests& guests, const fs::path& folder, std::uint64_t round) {
  const SystemClock clock;
  const std::string nonce = fmt::format("g{}", round);
  guest::SpawnOptions options;
  options.argv = {"node", "-e", small_files_script, mount_point, nonce};
  options.stdio = guest::Stdio::pipe;
  guest::Execution execution = guests.vm().spawn(options);
  std::string output;
  Instant done{};
  for (;;) {
    const auto event = execution.poll_event(clock.now() + mount_limit);
    if (!event) throw Broken("the writer of small files got stuck");
    if (const auto* ended = std::get_if<guest::Ended>(&*event)) {
      const Nanoseconds back = clock.now() - done;
      if (ended->exit.code != 0 || ended->exit.files_synced != small_files)
        throw Broken("the writer of small files " + guest::describe(ended->exit));
      remove_files(folder, nonce);
      return (microseconds(output) + static_cast<double>(back.count()) / 1e3) / small_files;
    }
    if (const auto* out = std::get_if<guest::Stdout>(&*event)) output += out->bytes;
    done = clock.now();
  }
}

double node_pair_us(const fs::path& folder, std::uint64_t round) {
  const std::string nonce = fmt::format("n{}", round);
  process::RunOptions limits;
  limits.deadline = SystemClock().now() + mount_limit;
  process::SpawnOptions options;
  options.argv = {guest::find_installation().node.string(), "-e", small_files_script, folder.string(), nonce};
  const process::RunResult result = process::run(options, {}, limits);
  if (!result.exit.ok())
    throw Broken("the writer of small files in Node ended with " + describe(result.exit));
  remove_files(folder, nonce);
  return microseconds(result.out) / small_files;
}

Measurement measure_small_files() {
  const file::TemporaryFolder folder("tare-bench-mount");
  Guests guests(engine_with(folder.path()), machine_with(folder.path()));
  std::uint64_t round = 0;
  const std::vector<Lane> lanes{[&] { return guest_pair_us(guests, folder.path(), round++); },
                                [&] { return node_pair_us(folder.path(), round++); }};
  for (const Lane& lane : lanes) lane();
  const auto figures = interleave(lanes, {.fewest = 30, .most = 150, .limit = std::chrono::seconds(40)});
  return p50_against(figures[0], figures[1], "500 fresh files each");
}

}  // namespace

Benchmark guest_sync_skip() {
  return {{"guest.sync_skip",
           "start to exit of a process that writes nothing on a mount of 10,000 files p50, against one "
           "without a mount",
           "ms",
           Judged::ratio,
           {{}, 1.1}},
          measure_skip};
}

Benchmark guest_fs_small() {
  return {
      {"guest.fs_small",
       "4 KiB written to a fresh file of a mount, read, and back on the host, p50, against the same calls "
       "of Node",
       "µs",
       Judged::ratio,
       {{}, 1.5}},
      measure_small_files};
}

}  // namespace tare::benchmarks
