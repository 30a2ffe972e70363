#include "runtime/guest_driver/driver.hpp"

#include <memory>
#include <thread>

#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "runtime/guest_driver/import_rows.hpp"
#include "runtime/guest_driver/lane.hpp"
#include "runtime/guest_driver/lifecycle.hpp"
#include "runtime/guest_driver/params.hpp"
#include "runtime/guest_driver/processes.hpp"
#include "runtime/guest_driver/scripts.hpp"
#include "serve/scripts.hpp"

namespace tare::guest_driver {
namespace {

constexpr std::uint32_t most_iterations = 100'000;
constexpr std::uint32_t most_guests = 1000;
constexpr std::uint32_t most_processes = 100'000;
constexpr std::string_view fanout_prefix = "fanout_";
constexpr std::string_view memory_prefix = "memory_";
constexpr std::string_view growth_prefix = "growth_";

// The pool fills by itself a moment later: facts are taken once they are steady.
constexpr std::chrono::milliseconds facts_window{20};
constexpr int facts_windows = 150;

struct Hello {
  std::string protocol;
  std::string name;
  std::string version;
  std::string engine;
  std::int64_t pid = 0;
  std::vector<std::string> rows;
  std::map<std::string, std::string> unavailable;
  bool asynchronous_spawn = true;  ///< the call leaves a message, and does not wait for the start
  bool stages = false;             ///< it counts them: only in a run that traces
};
BOOST_DESCRIBE_STRUCT(Hello, (),
                      (protocol, name, version, engine, pid, rows, unavailable, asynchronous_spawn, stages))

struct Request {
  std::string row;
  Params params;
  std::optional<std::uint32_t> iterations;
};
BOOST_DESCRIBE_STRUCT(Request, (), (row, params, iterations))

struct Samples {
  std::vector<Sample> samples;
};
BOOST_DESCRIBE_STRUCT(Samples, (), (samples))

std::uint32_t count_of(const std::optional<std::uint32_t>& value, std::string_view name,
                       std::uint32_t most = most_guests) {
  const std::uint32_t count = needed(value, name);
  if (count < 1 || count > most)
    throw serve::Refusal{"invalid", fmt::format("params.{} must be 1 to {}, got {}", name, most, count)};
  return count;
}

/// "13.6.233.17-node.44" is "v8 13.6".
std::string engine_name(const std::string& v8) {
  const std::size_t major = v8.find('.');
  const std::size_t minor = major == std::string::npos ? major : v8.find('.', major + 1);
  return "v8 " + v8.substr(0, minor);
}

std::string hello(Lane& lane, const json::Value& request) {
  serve::check_protocol(request);
  lane.wake();
  Hello hello;
  hello.protocol = serve::protocol;
  hello.name = "tare guest";
  hello.version = version();
  hello.engine = engine_name(lane.engine().about().v8);
  hello.pid = ::getpid();
  hello.stages = lane.engine().about().trace.value_or(false);
  hello.rows = {
      "node_exit_1",          "fanout_<n>",    "nested_8",    "capture_2b",        "capture_256k",
      "stdin_roundtrip_4k",   "exit_code_7",   "signal_kill", "root_cwd_no_write", "host_cwd_no_write",
      "host_cwd_write_1file", "reap_storm_32", "cold_start",  "transport_<n>"};
  for (std::string& row : import_rows()) hello.rows.push_back(std::move(row));
  const std::string no_programs = "a guest is JavaScript: it runs no programs of the machine";
  hello.unavailable = {{"exec_true", no_programs}, {"spawn_exit", no_programs}};
  const auto no_memory = why_no_memory(lane.engine().pids());
  for (const std::string_view row : {memory_prefix, growth_prefix}) {
    const std::string name = fmt::format("{}<n>", row);
    if (no_memory) {
      hello.unavailable[name] = *no_memory;
    } else {
      hello.rows.push_back(name);
    }
  }
  return json::line(hello);
}

/// Under the names that the row has for the two phases; without them, they go.
Sample with_phases(Sample sample, const char* spawn, const char* wait) {
  auto spawned = sample.ns.extract("spawn");
  auto waited = sample.ns.extract("wait");
  if (sample.outcome == "ok" && spawn != nullptr) {
    sample.ns[spawn] = spawned.mapped();
    sample.ns[wait] = waited.mapped();
  }
  return sample;
}

Facts steady_facts(Lane& lane, const std::optional<Facts>& before) {
  std::optional<Facts> last;
  Facts facts;
  for (int i = 0; i < facts_windows; ++i) {
    const bool at_rest = is_at_rest(lane.engine(), lane.options().pool);
    facts = facts_of(lane.engine().pids());
    const bool back = before && facts.fds <= before->fds && facts.threads <= before->threads;
    const bool steady = !before && last && last->fds == facts.fds && last->threads == facts.threads;
    if (at_rest && (back || steady)) break;
    last = facts;
    std::this_thread::sleep_for(facts_window);
  }
  return facts;
}

Sample reap_storm(Lane& lane, std::uint32_t count, Instant deadline) {
  const Facts before = steady_facts(lane, std::nullopt);
  Sample sample =
      run_in(lane.vm(), {.script = exit_script, .count = count, .cwd = {}, .input = {}}, deadline);
  const Facts after = steady_facts(lane, before);
  sample.counters["zombies"] = after.zombies;
  sample.counters["fdsBefore"] = before.fds;
  sample.counters["fdsAfter"] = after.fds;
  sample.counters["threadsBefore"] = before.threads;
  sample.counters["threadsAfter"] = after.threads;
  return with_phases(std::move(sample), nullptr, nullptr);
}

/// The rows of one guest.
std::optional<Operation> single(std::string_view row, const Params& params) {
  Operation operation;
  if (row == "nested_8") {
    operation.script = serve::nested_script(count_of(params.fanout, "fanout"));
    operation.stdio = guest::Stdio::pipe;
  } else if (row == "capture_2b" || row == "capture_256k") {
    const std::string& nonce = needed(params.nonce, "nonce");
    if (nonce.empty()) throw serve::Refusal{"invalid", "params.nonce is empty"};
    operation.script = serve::capture_script(nonce, needed(params.bytes, "bytes"));
    operation.stdio = guest::Stdio::pipe;
  } else if (row == "stdin_roundtrip_4k") {
    operation.script = echo_script;
    operation.input = needed(params.input, "input");
    operation.stdio = guest::Stdio::pipe;
  } else if (row == "exit_code_7") {
    operation.script = exit_7_script;
  } else if (row == "signal_kill") {
    operation.script = kill_script;
  } else if (row == "root_cwd_no_write") {
    operation.script = exit_script;
    operation.cwd = "/";
  } else if (row == "host_cwd_no_write") {
    operation.script = exit_script;
    operation.cwd = host_folder;
  } else if (row == "host_cwd_write_1file") {
    operation.script = serve::write_script(needed(params.file, "file"), needed(params.content, "content"));
    operation.cwd = host_folder;
  } else {
    return std::nullopt;
  }
  return operation;
}

/// The rows in which every sample has an engine of its own.
std::optional<Sample> fresh(Lane& lane, std::string_view row, const Params& params, Instant deadline) {
  const bool memory_row = is_sized(row, memory_prefix);
  const bool growth_row = is_sized(row, growth_prefix);
  if (row != "cold_start" && !memory_row && !growth_row) return std::nullopt;
  lane.close();
  if (memory_row) return memory(lane.options(), count_of(params.guests, "guests"), deadline);
  if (!growth_row) return cold_start(lane.options(), deadline);
  const std::uint32_t warmup = needed(params.warmup, "warmup");
  return growth(lane.options(), warmup, count_of(params.processes, "processes", most_processes), deadline);
}

/// Throws Refusal(unsupported) for a row that there is not.
Sample sample_row(Lane& lane, std::string_view row, const Params& params) {
  const std::chrono::milliseconds budget(needed(params.timeout_ms, "timeoutMs"));
  const Instant deadline = SystemClock().now() + budget;
  if (auto one = fresh(lane, row, params, deadline)) return *std::move(one);
  const bool fanout = is_sized(row, fanout_prefix);
  auto operation = single(row, params);
  if (row == "node_exit_1" || fanout || row == "reap_storm_32") {
    operation = Operation{.script = exit_script, .cwd = {}, .input = {}};
    if (row != "node_exit_1") operation->count = count_of(params.fanout, "fanout");
  }
  if (!operation) throw serve::Refusal{"unsupported", fmt::format("no row '{}'", row)};

  const bool on_host = operation->cwd == host_folder;
  lane.wake(on_host ? std::optional(needed(params.dir, "dir")) : std::nullopt);
  try {
    if (row == "reap_storm_32") return reap_storm(lane, operation->count, deadline);
    Sample sample = run_in(lane.vm(), *operation, deadline);
    if (row == "node_exit_1") return with_phases(std::move(sample), "spawn", "wait_reap");
    if (fanout) return with_phases(std::move(sample), "spawn_batch", "wait_reap_batch");
    return with_phases(std::move(sample), nullptr, nullptr);
  } catch (const Error& error) {
    lane.close();  // the next sample has a fresh one
    Sample sample;
    sample.fail("failed", error.line());
    return sample;
  }
}

/// What serves the rows. One of the two has an engine at a time: the other's would be beside what is
/// measured.
struct Lanes {
  Lane spawn;
  ImportLane import;

  void close() {
    spawn.close();
    import.close();
  }
};

Sample import_row(ImportLane& lane, const Params& params) {
  try {
    return lane.sample(params);
  } catch (const Error& error) {
    Sample sample;
    sample.fail("failed", error.line());
    return sample;
  }
}

std::vector<Sample> transport_row(ImportLane& lane, const Params& params, std::uint32_t iterations) {
  try {
    return lane.transport(params, iterations);
  } catch (const Error& error) {
    Sample sample;
    sample.fail("failed", error.line());
    return std::vector<Sample>(iterations, sample);
  }
}

std::string sample(Lanes& lanes, const json::Value& value) {
  const auto request = json::read<Request>(value, "request");
  const std::uint32_t iterations = request.iterations.value_or(1);
  if (iterations < 1 || iterations > most_iterations)
    throw serve::Refusal{"invalid", fmt::format("iterations must be 1 to {}", most_iterations)};
  Samples answer;
  const auto add = [&](Sample one) {
    if (one.outcome == "timeout" && one.error.value_or("").empty())
      one.error = late_text(request.params.timeout_ms.value_or(0));
    if (one.outcome == "failed" || one.outcome == "timeout") lanes.close();
    answer.samples.push_back(std::move(one));
  };
  const bool imports = is_import_row(request.row);
  if (imports || is_transport_row(request.row)) {
    lanes.spawn.close();
  } else {
    lanes.import.close();
  }
  if (is_transport_row(request.row)) {
    for (Sample& one : transport_row(lanes.import, request.params, iterations)) add(std::move(one));
    return json::line(answer);
  }
  for (std::uint32_t i = 0; i < iterations; ++i)
    add(imports ? import_row(lanes.import, request.params)
                : sample_row(lanes.spawn, request.row, request.params));
  return json::line(answer);
}

/// The engine's stages, and why there are no others, sub-phases of a lifecycle included.
std::string stages(Lane& lane) {
  lane.wake(lane.dir());
  try {
    guest::StageReport report = lane.engine().stages();
    report.absent.insert(guest::absent_phases().begin(), guest::absent_phases().end());
    return json::line(report);
  } catch (const Error& error) {
    throw serve::Refusal{error.code() == ErrorCode::unavailable ? "unsupported" : "failed", error.line()};
  }
}

}  // namespace

serve::Handlers handlers(const guest::EngineOptions& options) {
  const auto lanes = std::make_shared<Lanes>(Lanes{Lane(options), ImportLane(options)});
  return {{"hello", [lanes](const json::Value& request) { return hello(lanes->spawn, request); }},
          {"sample", [lanes](const json::Value& request) { return sample(*lanes, request); }},
          {"stages", [lanes](const json::Value&) { return stages(lanes->spawn); }}};
}

void run(const guest::EngineOptions& options) {
  serve::serve(handlers(options));
}

}  // namespace tare::guest_driver
