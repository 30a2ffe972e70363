#include "lab/driver/import.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view transport_prefix = "transport_";

/// The words of the table.
struct Words {
  std::string disabled{cache_disabled};
  std::string primed{cache_primed};
  std::string fresh{fresh_per_sample};
  std::string shared{shared_across_scenario};
  std::string shared_context{shared_context_across_scenario};
};

/// Empty programs, and the local graph.
std::vector<ImportScenario> isolate_and_local_scenarios(const Words& words) {
  return {
      {"isolate-startup", "startup-floor", "native-execution", "baseline-control",
       "Minimal guest with no extra imports. Measures the current startup floor for create-context plus node "
       "process bootstrap.",
       "empty entrypoint", "bench/isolate-startup.mjs", words.disabled, words.fresh, false, std::nullopt,
       false},
      {"prewarmed-isolate-startup", "startup-floor", "native-execution", "same-engine-replay",
       "Minimal guest after a priming pass while one execution engine keeps materialized assets and "
       "builtin/polyfill prewarm state alive, isolating the hot startup floor from import work.",
       "empty entrypoint", "bench/isolate-startup.mjs", words.primed, words.shared, false, std::nullopt,
       false},
      {"cold-local-import", "local-import", "native-execution", "true-cold-start",
       "Cold import of a repo-local ESM graph that simulates layered application modules without "
       "compile-cache reuse.",
       "24-module local ESM graph", "bench/cold-local-import.mjs", words.disabled, words.fresh, true,
       std::nullopt, false},
      {"warm-local-import", "local-import", "native-execution", "new-session-replay",
       "Warm import of the same local ESM graph after a compile-cache priming pass in an earlier isolate.",
       "24-module local ESM graph", "bench/warm-local-import.mjs", words.primed, words.fresh, true,
       std::nullopt, false},
      {"same-context-local-import", "local-import", "native-execution", "same-session-replay",
       "Warm import of the same local ESM graph by replaying executions against one reused JavaScript "
       "context after a compile-cache priming pass.",
       "24-module local ESM graph", "bench/warm-local-import.mjs", words.primed, words.shared_context, true,
       std::nullopt, false},
      {"prewarmed-local-import", "local-import", "native-execution", "same-engine-replay",
       "Warm import of the same local ESM graph after compile-cache priming while one execution engine keeps "
       "materialized assets and builtin/polyfill prewarm state alive.",
       "24-module local ESM graph", "bench/warm-local-import.mjs", words.primed, words.shared, true,
       std::nullopt, false},
      {"host-local-import", "local-import", "host-node", "host-control",
       "Direct host-Node control for the same local ESM graph so later runs can separate native executor "
       "overhead from guest import work.",
       "24-module local ESM graph", "bench/cold-local-import.mjs", words.disabled, words.fresh, true,
       std::nullopt, false}};
}

/// Built-in modules.
std::vector<ImportScenario> builtin_scenarios(const Words& words) {
  return {
      {"builtin-import", "builtin-import", "native-execution", "true-cold-start",
       "Import of the common builtin path used by the wrappers and polyfill-adjacent bootstrap code.",
       "node:path + node:url + node:fs/promises", "bench/builtin-import.mjs", words.disabled, words.fresh,
       true, std::nullopt, false},
      {"hot-builtin-stream-import", "builtin-hot-import", "native-execution", "same-engine-replay",
       "Hot single-import microbench for `node:stream` after a priming pass inside one reused execution "
       "engine.",
       "node:stream", "bench/hot-builtin-stream-import.mjs", words.primed, words.shared, true, std::nullopt,
       false},
      {"hot-builtin-stream-web-import", "builtin-hot-import", "native-execution", "same-engine-replay",
       "Hot single-import microbench for `node:stream/web` after a priming pass inside one reused execution "
       "engine.",
       "node:stream/web", "bench/hot-builtin-stream-web-import.mjs", words.primed, words.shared, true,
       std::nullopt, false},
      {"hot-builtin-crypto-import", "builtin-hot-import", "native-execution", "same-engine-replay",
       "Hot single-import microbench for `node:crypto` after a priming pass inside one reused execution "
       "engine.",
       "node:crypto", "bench/hot-builtin-crypto-import.mjs", words.primed, words.shared, true, std::nullopt,
       false},
      {"hot-builtin-zlib-import", "builtin-hot-import", "native-execution", "same-engine-replay",
       "Hot single-import microbench for `node:zlib` after a priming pass inside one reused execution "
       "engine.",
       "node:zlib", "bench/hot-builtin-zlib-import.mjs", words.primed, words.shared, true, std::nullopt,
       false},
      {"hot-builtin-assert-import", "builtin-hot-import", "native-execution", "same-engine-replay",
       "Hot single-import microbench for `node:assert/strict` after a priming pass inside one reused "
       "execution engine.",
       "node:assert/strict", "bench/hot-builtin-assert-import.mjs", words.primed, words.shared, true,
       std::nullopt, false},
      {"hot-builtin-url-import", "builtin-hot-import", "native-execution", "same-engine-replay",
       "Hot single-import microbench for `node:url` after a priming pass inside one reused execution engine.",
       "node:url", "bench/hot-builtin-url-import.mjs", words.primed, words.shared, true, std::nullopt,
       false}};
}

/// Packages of npm.
std::vector<ImportScenario> package_scenarios(const Words& words) {
  return {
      {"hot-projected-package-file-import", "projected-package-hot-import", "host-node", "same-engine-replay",
       "Hot projected-package single-import microbench for the TypeScript compiler file with compile cache "
       "and projected-source manifest reuse enabled across repeated contexts.",
       "projected TypeScript compiler file", "bench/hot-projected-package-file-import.mjs", words.primed,
       words.fresh, true, "typescript", true},
      {"large-package-import", "large-package-import", "host-node", "true-cold-start",
       "Cold import of the real-world `typescript` package from the workspace root `node_modules` tree.",
       "typescript", "bench/large-package-import.mjs", words.disabled, words.fresh, true, "typescript",
       false},
      {"projected-package-import", "projected-package-import", "host-node", "host-control",
       "Projected-package guest-path import of TypeScript with compile cache and projected-source manifest "
       "reuse enabled across repeated contexts.",
       "projected TypeScript guest-path import", "bench/projected-package-import.mjs", words.primed,
       words.fresh, true, "typescript", true},
      {"pdf-lib-startup", "pdf-lib-startup", "host-node", "host-control",
       "Cold import of `pdf-lib` plus representative document setup that creates a PDF page and embeds a "
       "standard font.",
       "pdf-lib document creation", "bench/pdf-lib-startup.mjs", words.disabled, words.fresh, true, "pdf-lib",
       false},
      {"jszip-startup", "jszip-startup", "host-node", "host-control",
       "Cold import of `jszip` plus representative archive staging that builds a nested archive structure.",
       "jszip archive staging", "bench/jszip-startup.mjs", words.disabled, words.fresh, true, "jszip", false},
      {"jszip-end-to-end", "jszip-end-to-end", "host-node", "host-control",
       "Cold import of `jszip` plus a full compressed archive roundtrip that writes, compresses, reloads, "
       "and validates nested archive contents.",
       "jszip end-to-end archive roundtrip", "bench/jszip-end-to-end.mjs", words.disabled, words.fresh, true,
       "jszip", false},
      {"jszip-repeated-session-compressed", "jszip-repeated-session-compressed", "host-node", "host-control",
       "Repeated-session `jszip` workload after a compile-cache priming pass that compresses and reloads a "
       "nested archive in each fresh isolate.",
       "jszip compressed archive roundtrip", "bench/jszip-repeated-session-compressed.mjs", words.primed,
       words.fresh, true, "jszip", false}};
}

std::vector<ImportScenario> all_import_scenarios() {
  const Words words;
  std::vector<ImportScenario> all = isolate_and_local_scenarios(words);
  for (const auto& more : {builtin_scenarios(words), package_scenarios(words)})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::optional<std::int64_t> transport_size(std::string_view row) {
  for (const std::int64_t bytes : transport_sizes()) {
    if (row == fmt::format("{}{}", transport_prefix, bytes)) return bytes;
  }
  return std::nullopt;
}

}  // namespace

const std::vector<std::int64_t>& transport_sizes() {
  static const std::vector<std::int64_t> sizes{32, 4 << 10, 64 << 10};
  return sizes;
}

const std::vector<ImportScenario>& import_scenarios() {
  static const std::vector<ImportScenario> scenarios = all_import_scenarios();
  return scenarios;
}

const ImportScenario* import_scenario(std::string_view row) {
  const auto& all = import_scenarios();
  const auto found = std::ranges::find(all, row, &ImportScenario::id);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> import_rows() {
  std::vector<std::string> names;
  for (const std::int64_t bytes : transport_sizes())
    names.push_back(fmt::format("{}{}", transport_prefix, bytes));
  for (const ImportScenario& scenario : import_scenarios()) names.push_back(scenario.id);
  return names;
}

std::optional<Workload> import_workload(std::string_view row) {
  if (const auto bytes = transport_size(row))
    return Workload{std::string(row), Work::transport, *bytes, {"total"}, {}, std::string(import_bench)};
  if (import_scenario(row) == nullptr) return std::nullopt;
  return Workload{std::string(row), Work::import_scenario, 1, {"total"}, {}, std::string(import_bench)};
}

json::Object import_params(const Workload& workload, std::uint64_t nonce, const ImportPlace& place) {
  if (workload.work == Work::transport) {
    return {{"dir", place.dir.string()},
            {"entry", "bench/transport-echo.mjs"},
            {"bytes", workload.size},
            {"nonce", fmt::format("{:016x}", nonce)}};
  }
  const ImportScenario* scenario = import_scenario(workload.row);
  if (scenario == nullptr) return {};
  json::Object params{{"dir", place.dir.string()},
                      {"entry", scenario->entrypoint},
                      {"reuse", scenario->engine_reuse},
                      {"cache", scenario->compile_cache}};
  if (scenario->compile_cache == cache_primed) params["cacheDir"] = place.cache.string();
  if (scenario->needs && place.node_modules) params["nodeModules"] = place.node_modules->string();
  if (scenario->mode == true_cold_start) params["freshProcess"] = true;
  return params;
}

std::string transport_line(std::string_view nonce, std::uint64_t k, std::int64_t bytes) {
  std::string line = fmt::format("transport:{}-{}:", nonce, k);
  line.resize(std::max(line.size(), static_cast<std::size_t>(bytes)), 'x');
  return line;
}

}  // namespace tare::driver
