#include <algorithm>
#include <filesystem>

#include <system_error>

#include "base/file.hpp"
#include "base/text.hpp"
#include "lab/driver/judge_agents.hpp"
#include "lab/driver/judge_import.hpp"
#include "lab/driver/judge_words.hpp"
#include "lab/driver/workload.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t sigkill = 9;
constexpr std::int64_t shell_sigkill = 128 + sigkill;  // how a shell reports it

std::string ending(const Sample& sample) {
  const auto code = sample.counter("exitCode");
  const auto signal = sample.counter("signal");
  if (code && signal) return fmt::format("exit code {} and signal {}", *code, *signal);
  if (signal) return fmt::format("signal {}", *signal);
  return code ? fmt::format("exit code {}", *code) : "no exit status";
}

Judgement exit_code(const Sample& sample, std::int64_t expected) {
  const bool ok = sample.counter("exitCode") == expected && !sample.counter("signal");
  return {"exit_code", ok, fmt::format("exit code {}", expected), ending(sample)};
}

Judgement killed_by_signal(const Sample& sample) {
  const auto code = sample.counter("exitCode");
  const bool by_signal = sample.counter("signal") == sigkill && !code;
  const bool by_code = code == shell_sigkill && sample.counter("signal").value_or(sigkill) == sigkill;
  return {"killed_by_signal", by_signal || by_code, fmt::format("signal {}", sigkill), ending(sample)};
}

Judgement equals(std::string id, const Sample& sample, std::string_view counter, std::int64_t expected) {
  const auto actual = sample.counter(counter);
  return {std::move(id), actual == expected, fmt::format("{} {}", expected, counter), number(actual)};
}

/// No more after than before.
Judgement back_to_start(std::string id, const Sample& sample, std::string_view thing) {
  const auto before = sample.counter(fmt::format("{}Before", thing));
  const auto after = sample.counter(fmt::format("{}After", thing));
  return {std::move(id), before && after && *after <= *before,
          fmt::format("no more {} after than before", thing),
          fmt::format("{} before, {} after", number(before), number(after))};
}

Judgement output_exact(const Sample& sample, std::string_view expected, std::string description) {
  Judgement judgement{"output_exact", false, std::move(description), "no output"};
  if (!sample.output) return judgement;
  const std::string& actual = *sample.output;
  judgement.ok = actual == expected;
  const auto [left, right] = std::mismatch(actual.begin(), actual.end(), expected.begin(), expected.end());
  judgement.actual = fmt::format("{} bytes", actual.size());
  if (!judgement.ok && left != actual.end() && right != expected.end()) {
    judgement.actual += fmt::format(", the first wrong one at {}", left - actual.begin());
  }
  return judgement;
}

std::string repeated(const std::string& tag, std::int64_t bytes) {
  std::string text;
  text.reserve(static_cast<std::size_t>(bytes) + tag.size());
  while (!tag.empty() && static_cast<std::int64_t>(text.size()) < bytes) text += tag;
  text.resize(static_cast<std::size_t>(bytes));
  return text;
}

/// What a parent of `nested_8` saw of its children.
struct Observation {
  std::int64_t expected_children = 0;
  std::int64_t exit_callbacks = 0;
  std::int64_t close_callbacks = 0;
  std::int64_t error_callbacks = 0;
  std::int64_t non_zero_exit_codes = 0;
  std::int64_t non_zero_close_codes = 0;
};
BOOST_DESCRIBE_STRUCT(Observation, (),
                      (expected_children, exit_callbacks, close_callbacks, error_callbacks,
                       non_zero_exit_codes, non_zero_close_codes))

Judgement callbacks(std::string_view marker, std::int64_t n) {
  Judgement judgement{"callbacks", false,
                      fmt::format("{} children: {} exits, {} closes, 0 errors, 0 non-zero codes", n, n, n),
                      "no marker"};
  try {
    const auto seen = json::read<Observation>(json::parse(marker, "marker"), "marker");
    judgement.ok = seen.expected_children == n && seen.exit_callbacks == n && seen.close_callbacks == n &&
                   seen.error_callbacks == 0 && seen.non_zero_exit_codes == 0 &&
                   seen.non_zero_close_codes == 0;
    judgement.actual =
        fmt::format("{} children: {} exits, {} closes, {} errors, {} non-zero codes", seen.expected_children,
                    seen.exit_callbacks, seen.close_callbacks, seen.error_callbacks,
                    std::max(seen.non_zero_exit_codes, seen.non_zero_close_codes));
  } catch (const Error& error) {
    judgement.actual = text::one_line(fmt::format("{} ({})", error.what(), error.why()));
  }
  return judgement;
}

void judge_nested(const Sample& sample, std::int64_t n, std::vector<Judgement>& out) {
  constexpr std::string_view prefix = "__BENCH098__";
  std::vector<std::string> markers;
  for (const std::string& line : text::split(sample.output.value_or(""), '\n')) {
    if (line.starts_with(prefix)) markers.push_back(line.substr(prefix.size()));
  }
  out.push_back(
      {"marker_once", markers.size() == 1, "1 marker line", fmt::format("{} marker lines", markers.size())});
  if (markers.size() == 1) out.push_back(callbacks(markers.front(), n));
}

/// Takes the file away, so that the folder is as it was.
Judgement file_on_host(const json::Object& params) {
  Judgement judgement{"file_on_host", false, "the file with its content", "no file"};
  const fs::path path = fs::path(member(params, "dir")) / member(params, "file");
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return judgement;
  try {
    const std::string content = file::read(path, 1 << 20);
    judgement.ok = content == member(params, "content");
    judgement.actual = judgement.ok ? judgement.expected : fmt::format("{} other bytes", content.size());
  } catch (const Error& error) {
    judgement.actual = text::one_line(error.why());
  }
  fs::remove(path, ignored);
  return judgement;
}

/// Only lanes with host mounts report this.
void judge_sync(const Sample& sample, Work work, std::vector<Judgement>& out) {
  const auto skipped = sample.counter("syncSkipped");
  const auto files = sample.counter("syncFiles");
  if (!skipped && !files) return;
  const bool wrote = work == Work::host_write;
  const bool was_skipped = skipped.value_or(0) >= 1 || files == 0;
  const bool was_done = skipped.value_or(0) == 0 && files.value_or(1) >= 1;
  out.push_back({"sync_skipped", wrote ? was_done : was_skipped,
                 wrote ? "files written back" : "sync skipped",
                 fmt::format("skipped {}, files {}", number(skipped), number(files))});
}

}  // namespace

std::vector<Judgement> judge(const Workload& workload, const json::Object& params, const Sample& sample) {
  if (workload.bench == agents_bench) return judge_agents(workload, params, sample);
  if (workload.bench == import_bench) return judge_import(workload, params, sample);
  std::vector<Judgement> out;
  if (sample.outcome != Outcome::ok) {
    if (workload.work == Work::host_write) file_on_host(params);  // nothing is left in the folder
    return out;
  }
  switch (workload.work) {
    case Work::exit:
      out.push_back(exit_code(sample, 0));
      break;
    case Work::exit_code:
      out.push_back(exit_code(sample, 7));
      break;
    case Work::signal:
      out.push_back(killed_by_signal(sample));
      break;
    case Work::fanout:
    case Work::storm:
      out.push_back(equals("all_exits", sample, "exits", workload.size));
      out.push_back(equals("no_failures", sample, "nonZero", 0));
      if (workload.work == Work::fanout) break;
      out.push_back(equals("no_zombies", sample, "zombies", 0));
      out.push_back(back_to_start("fds_back", sample, "fds"));
      out.push_back(back_to_start("threads_back", sample, "threads"));
      break;
    case Work::nested:
      out.push_back(exit_code(sample, 0));
      judge_nested(sample, workload.size, out);
      break;
    case Work::capture:
      out.push_back(exit_code(sample, 0));
      out.push_back(output_exact(sample, repeated(member(params, "nonce"), workload.size),
                                 fmt::format("{} bytes of the sample's nonce", workload.size)));
      break;
    case Work::round_trip:
      out.push_back(exit_code(sample, 0));
      out.push_back(
          output_exact(sample, member(params, "input"), fmt::format("its {} bytes of input", workload.size)));
      break;
    case Work::cold_start:
      out.push_back(exit_code(sample, 0));
      out.push_back(equals("warm_exit_code", sample, "warmExitCode", 0));
      out.push_back(equals("none_left", sample, "leftRunning", 0));
      break;
    case Work::memory:
      out.push_back(equals("guests_alive", sample, "guests", workload.size));
      out.push_back(equals("all_exits", sample, "exits", workload.size));
      break;
    case Work::growth:
      out.push_back(equals("all_exits", sample, "exits", workload.size));
      out.push_back(equals("no_failures", sample, "nonZero", 0));
      break;
    case Work::root_folder:
    case Work::host_folder:
    case Work::host_write:
      out.push_back(exit_code(sample, 0));
      if (workload.work == Work::host_write) out.push_back(file_on_host(params));
      judge_sync(sample, workload.work, out);
      break;
    default:
      break;
  }
  return out;
}

std::string describe(const Judgement& judgement) {
  return fmt::format("{}: expected {}, got {}", judgement.id, judgement.expected, judgement.actual);
}

}  // namespace tare::driver
