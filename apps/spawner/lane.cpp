#include "spawner/lane.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "serve/scripts.hpp"
#include "spawner/scripts.hpp"

namespace tare::spawner {
namespace {

constexpr std::uint32_t max_fanout = 10'000;
constexpr std::uint64_t max_capture = std::uint64_t{2} << 20;

const char* const script_rows[] = {"node_exit_1",        "fanout_<n>",  "capture_2b",  "capture_256k",
                                   "stdin_roundtrip_4k", "exit_code_7", "signal_kill", "reap_storm_32"};
const char* const folder_rows[] = {"root_cwd_no_write", "host_cwd_no_write", "host_cwd_write_1file"};

template <class T>
const T& need(const std::optional<T>& value, const char* name) {
  if (!value) throw serve::Refusal{"invalid", std::string("params.") + name + " is missing"};
  return *value;
}

unsigned need_fanout(const Params& params) {
  const std::uint32_t fanout = need(params.fanout, "fanout");
  if (fanout < 1 || fanout > max_fanout) {
    throw serve::Refusal{"invalid", "params.fanout must be 1 to " + std::to_string(max_fanout)};
  }
  return fanout;
}

std::string capture(const Params& params) {
  const std::string& nonce = need(params.nonce, "nonce");
  const std::uint64_t bytes = need(params.bytes, "bytes");
  if (nonce.empty()) throw serve::Refusal{"invalid", "params.nonce is empty"};
  if (bytes < 1 || bytes > max_capture) {
    throw serve::Refusal{"invalid", "params.bytes must be 1 to " + std::to_string(max_capture)};
  }
  return serve::capture_script(nonce, bytes);
}

/// For rows whose phases mean nothing of their own.
Sample total_only(Sample sample) {
  std::erase_if(sample.ns, [](const auto& metric) { return metric.first != "total"; });
  return sample;
}

process::SpawnOptions in_folder(process::SpawnOptions command, const std::string& folder) {
  command.cwd = folder;
  return command;
}

}  // namespace

std::optional<unsigned> fanout_of(std::string_view row) {
  constexpr std::string_view prefix = "fanout_";
  if (!row.starts_with(prefix)) return std::nullopt;
  row.remove_prefix(prefix.size());
  if (row.empty() || row.front() < '1' || row.front() > '9') return std::nullopt;
  const std::optional<std::int64_t> n = text::to_int(row);
  if (!n || *n < 1 || *n > max_fanout) return std::nullopt;
  return static_cast<unsigned>(*n);
}

Lane::Lane(std::string_view kind, std::vector<std::string> words) : name_(kind), words_(std::move(words)) {
  const auto misuse = [&](const char* why) {
    return Error(ErrorCode::usage, "bad lane '" + name_ + "'", why);
  };
  if (kind == "sh") {
    if (!words_.empty()) throw misuse("it takes no command");
    rows_ = {"spawn_exit", "exec_true"};
    for (const char* row : script_rows) unavailable_[row] = "no JavaScript";
    for (const char* row : folder_rows) unavailable_[row] = "no JavaScript";
    unavailable_["nested_8"] = "no JavaScript";
  } else if (kind == "native") {
    if (!has_script_slot(words_)) throw misuse("it needs a command with {script}, as: node -e {script}");
    offer_scripts();
    for (const char* row : folder_rows) rows_.emplace_back(row);
    unavailable_["nested_8"] = "no child_process";
  } else if (kind == "cmd") {
    if (words_.empty()) throw misuse("it needs a command");
    if (has_script_slot(words_)) {
      offer_scripts();
      rows_.emplace_back("nested_8");
      for (const char* row : folder_rows) unavailable_[row] = "a command template has no mounts";
    } else {
      rows_ = {"command_exit"};
    }
  } else {
    throw misuse("there are native, sh and cmd");
  }
}

void Lane::offer_scripts() {
  for (const char* row : script_rows) rows_.emplace_back(row);
}

process::SpawnOptions Lane::script(std::string_view text) const {
  process::SpawnOptions options;
  options.argv = with_script(words_, text);
  return options;
}

Sample Lane::sample(const std::string& row, const Params& params) const {
  const std::string offered = fanout_of(row) ? "fanout_<n>" : row;
  if (std::find(rows_.begin(), rows_.end(), offered) == rows_.end() || row == "fanout_<n>") {
    const auto reason = unavailable_.find(offered);
    throw serve::Refusal{"unsupported",
                         reason != unavailable_.end() ? reason->second : "no row '" + row + "'"};
  }
  const std::uint32_t timeout_ms = need(params.timeout_ms, "timeoutMs");
  if (timeout_ms == 0) throw serve::Refusal{"invalid", "params.timeoutMs must be at least 1"};
  const Nanoseconds timeout = std::chrono::milliseconds(timeout_ms);
  process::SpawnOptions command;
  if (row == "spawn_exit") {
    command.argv = {"sh", "-c", "exit 0"};
  } else if (row == "exec_true") {
    command.argv = {"/bin/true"};
  } else if (row == "command_exit") {
    command.argv = words_;
  } else {
    return scripted(row, params, timeout);
  }
  return run_one(command, timeout);
}

Sample Lane::scripted(const std::string& row, const Params& params, Nanoseconds timeout) const {
  const process::SpawnOptions leave = script(exit_script(0));
  if (row == "node_exit_1") return run_one(leave, timeout);
  if (fanout_of(row)) return run_batch(leave, need_fanout(params), timeout);
  if (row == "reap_storm_32") return run_storm(leave, need_fanout(params), timeout);
  if (row == "exit_code_7") return total_only(run_one(script(exit_script(7)), timeout));
  if (row == "signal_kill") return total_only(run_one(script(kill_script()), timeout));
  if (row == "root_cwd_no_write") return total_only(run_one(in_folder(leave, "/"), timeout));
  if (row == "host_cwd_no_write") {
    return total_only(run_one(in_folder(leave, need(params.dir, "dir")), timeout));
  }
  if (row == "host_cwd_write_1file") {
    const std::string text = write_file_script(need(params.file, "file"), need(params.content, "content"));
    return total_only(run_one(in_folder(script(text), need(params.dir, "dir")), timeout));
  }
  if (row == "capture_2b" || row == "capture_256k") return run_piped(script(capture(params)), {}, timeout);
  if (row == "stdin_roundtrip_4k")
    return run_piped(script(echo_script()), need(params.input, "input"), timeout);
  return run_piped(script(serve::nested_script(need_fanout(params))), {}, timeout);  // nested_8
}

}  // namespace tare::spawner
