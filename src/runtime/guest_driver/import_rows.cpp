#include "runtime/guest_driver/import_rows.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/guest_driver/lane.hpp"
#include "runtime/guest_driver/params.hpp"
#include "runtime/guest_driver/transport.hpp"

namespace tare::guest_driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view transport_prefix = "transport_";
/// What a socket takes at once: a guest that does not read then never keeps the driver.
constexpr std::uint64_t most_transport_bytes = std::uint64_t{64} << 10;

constexpr std::chrono::milliseconds rest_window{1};
constexpr std::chrono::seconds rest_limit{3};

/// What the samples of a row have in common.
enum class Reuse { engine, engine_and_pool, context };

Reuse reuse_of(const Params& params) {
  const std::string& reuse = needed(params.reuse, "reuse");
  if (reuse == "fresh-per-sample") return Reuse::engine;
  if (reuse == "shared-across-scenario") return Reuse::engine_and_pool;
  if (reuse == "shared-context-across-scenario") return Reuse::context;
  throw serve::Refusal{"invalid", fmt::format("params.reuse is '{}'", reuse)};
}

fs::path existing_folder(const std::string& path, std::string_view name) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (error || !fs::is_directory(real, error))
    throw serve::Refusal{"invalid", fmt::format("params.{} is no folder: {}", name, path)};
  return real;
}

std::optional<fs::path> cache_of(const Params& params) {
  const std::string& cache = needed(params.cache, "cache");
  if (cache == "disabled") return std::nullopt;
  if (cache != "primed") throw serve::Refusal{"invalid", fmt::format("params.cache is '{}'", cache)};
  return existing_folder(needed(params.cache_dir, "cacheDir"), "cacheDir");
}

ImportPlace place_of(const Params& params, std::optional<fs::path> cache) {
  ImportPlace place;
  place.bench = existing_folder((fs::path(needed(params.dir, "dir")) / "bench").string(), "dir");
  if (params.node_modules) place.node_modules = existing_folder(*params.node_modules, "nodeModules");
  place.cache = std::move(cache);
  return place;
}

std::int64_t files_below(const fs::path& folder) {
  std::int64_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) count += entry.is_regular_file() ? 1 : 0;
  return count;
}

/// Reads what a guest says until it has ended. Nothing when it is late: it is killed then.
std::optional<guest::Exit> read_to_end(guest::Execution& guest, Instant deadline, std::string& output) {
  for (;;) {
    const auto event = guest.poll_event(deadline);
    if (!event) {
      guest.kill();
      guest.wait(SystemClock().now() + std::chrono::seconds(2));
      return std::nullopt;
    }
    if (const auto* ended = std::get_if<guest::Ended>(&*event)) return ended->exit;
    if (const auto* out = std::get_if<guest::Stdout>(&*event)) output += out->bytes;
    if (const auto* err = std::get_if<guest::Stderr>(&*event)) std::cerr << err->bytes << std::flush;
  }
}

/// One program from the making of its context to its end. `context` is made where it is not there.
Sample run_program(guest::Engine& engine, const ImportPlace& place, std::optional<ImportContext>& context,
                   const std::string& entry, Instant deadline) {
  const SystemClock clock;
  Sample sample;
  std::string output;
  const Instant begin = clock.now();
  if (!context) context.emplace(engine, place);
  const Instant made = clock.now();
  guest::Execution guest = context->spawn(entry);
  const Instant started = clock.now();
  const auto exit = read_to_end(guest, deadline, output);
  const Instant end = clock.now();
  sample.ns = {{"total", (end - begin).count()}};
  if (!exit) {
    sample.fail("timeout", "");
    return sample;
  }
  sample.ns["context_setup"] = (made - begin).count();
  sample.ns["startup"] = (started - made).count();
  sample.ns["wait"] = (end - started).count();
  if (exit->code) sample.counters["exitCode"] = *exit->code;
  if (exit->signal) sample.counters["signal"] = *exit->signal;
  count_context(*exit, sample);
  judge(*exit, sample);
  sample.output = std::move(output);
  return sample;
}

std::optional<std::int64_t> exit_code(const Sample& sample) {
  const auto found = sample.counters.find("exitCode");
  return found == sample.counters.end() ? std::nullopt : std::optional(found->second);
}

/// A whole life in an engine of its own; what it says is read and thrown away.
void add_fresh_process(const guest::EngineOptions& options, const ImportPlace& place,
                       const std::string& entry, Instant deadline, Sample& sample) {
  const Instant begin = SystemClock().now();
  guest::Engine engine = guest::Engine::start(import_engine(options, place, 0));
  std::optional<ImportContext> context;
  const Sample life = run_program(engine, place, context, entry, deadline);
  const Instant end = SystemClock().now();
  if (life.outcome != "ok") {
    const std::string why = life.outcome == "timeout" ? "not done in time" : life.error.value_or("");
    sample.fail(life.outcome, "in a fresh engine: " + why);
  } else if (exit_code(life) != exit_code(sample)) {
    sample.fail("failed", "in a fresh engine the program ended otherwise");
  } else {
    sample.ns["fresh_process"] = (end - begin).count();
  }
}

}  // namespace

std::vector<std::string> import_rows() {
  return {"isolate-startup",
          "prewarmed-isolate-startup",
          "cold-local-import",
          "warm-local-import",
          "same-context-local-import",
          "prewarmed-local-import",
          "host-local-import",
          "builtin-import",
          "hot-builtin-stream-import",
          "hot-builtin-stream-web-import",
          "hot-builtin-crypto-import",
          "hot-builtin-zlib-import",
          "hot-builtin-assert-import",
          "hot-builtin-url-import",
          "hot-projected-package-file-import",
          "large-package-import",
          "projected-package-import",
          "pdf-lib-startup",
          "jszip-startup",
          "jszip-end-to-end",
          "jszip-repeated-session-compressed"};
}

bool is_import_row(std::string_view row) {
  const std::vector<std::string> rows = import_rows();
  return std::find(rows.begin(), rows.end(), row) != rows.end();
}

bool is_transport_row(std::string_view row) {
  return is_sized(row, transport_prefix);
}

std::optional<Nanoseconds> ImportLane::wake(const ImportPlace& place, std::uint32_t pool) {
  if (engine_ && place_ == place && pool_ == pool) return std::nullopt;
  close();
  const Instant begin = SystemClock().now();
  engine_ = guest::Engine::start(import_engine(options_, place, pool));
  place_ = place;
  pool_ = pool;
  return SystemClock().now() - begin;
}

/// The isolates of a pool are made beside what runs: a sample begins when they are there.
void ImportLane::await_rest() {
  const Instant limit = SystemClock().now() + rest_limit;
  while (!is_at_rest(*engine_, pool_) && SystemClock().now() < limit)
    std::this_thread::sleep_for(rest_window);
}

Sample ImportLane::sample(const Params& params) {
  const std::chrono::milliseconds budget(needed(params.timeout_ms, "timeoutMs"));
  const Reuse reuse = reuse_of(params);
  const ImportPlace place = place_of(params, cache_of(params));
  const std::string& entry = needed(params.entry, "entry");
  const auto engine_start = wake(place, reuse == Reuse::engine ? 0 : options_.pool);
  await_rest();

  const Instant begin = SystemClock().now();
  std::optional<ImportContext> own;
  std::optional<ImportContext>& context = reuse == Reuse::context ? context_ : own;
  Sample sample = run_program(*engine_, place, context, entry, begin + budget);
  if (sample.outcome != "ok") return sample;
  if (engine_start) sample.ns["engine_start"] = engine_start->count();
  if (params.fresh_process.value_or(false)) add_fresh_process(options_, place, entry, begin + budget, sample);
  if (sample.outcome == "timeout") sample.ns = {{"total", (SystemClock().now() - begin).count()}};
  if (place.cache) sample.counters["cacheFiles"] = files_below(*place.cache);
  return sample;
}

std::vector<Sample> ImportLane::transport(const Params& params, std::uint32_t iterations) {
  const std::chrono::milliseconds limit(needed(params.timeout_ms, "timeoutMs"));
  const std::uint64_t bytes = needed(params.bytes, "bytes");
  if (bytes < 1 || bytes > most_transport_bytes)
    throw serve::Refusal{"invalid",
                         fmt::format("params.bytes must be 1 to {}, got {}", most_transport_bytes, bytes)};
  const std::string& nonce = needed(params.nonce, "nonce");
  const std::string& entry = needed(params.entry, "entry");
  const ImportPlace place = place_of(params, std::nullopt);
  wake(place, 0);
  ImportContext context(*engine_, place);
  guest::Execution guest = context.spawn(entry);
  return round_trips(guest, {nonce, bytes, limit}, iterations);
}

void ImportLane::close() {
  context_.reset();
  engine_.reset();
}

}  // namespace tare::guest_driver
