#include "lab/driver/check_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/driver/ack_pipe.hpp"
#include "lab/driver/agents.hpp"
#include "lab/driver/import.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;

/// Long enough for a few cycles of any registry.
constexpr std::chrono::milliseconds short_mix{200};

bool is_durable(Work work) {
  return work == Work::spawn_pipeline_durable || work == Work::spawn_settle || work == Work::mixed_load ||
         work == Work::restart_scale;
}

std::string milliseconds_of(const Sample& sample) {
  return text::significant(sample.metric("total").value_or(0) / 1e6) + " ms";
}

std::string name_of(Outcome outcome) {
  return boost::describe::enum_to_string(outcome, "?");
}

void want_carried_out(const Sample& sample) {
  if (sample.outcome == Outcome::ok) return;
  throw Failed{fmt::format("outcome {}: {}", name_of(sample.outcome), sample.error.value_or(""))};
}

void want_all(const std::vector<Judgement>& judgements) {
  std::vector<std::string> broken;
  for (const Judgement& judgement : judgements) {
    if (!judgement.ok) broken.push_back(describe(judgement));
  }
  if (!broken.empty()) throw Failed{text::join(broken, "; ")};
}

}  // namespace

RowChecks::RowChecks(const DriverCommand& command, const CheckOptions& options, Hello hello)
    : command_(command),
      options_(options),
      hello_(std::move(hello)),
      nonce_(options.seed * 0x9E3779B97F4A7C15) {}

std::vector<Workload> RowChecks::offered() const {
  std::vector<Workload> all = all_workloads(options_.sizes);
  for (const AgentScenario& scenario : agent_scenarios()) {
    if (auto row = agents_workload(scenario.name, options_.agents_size)) all.push_back(*std::move(row));
  }
  for (const std::string& name : import_rows()) all.push_back(import_workload(name).value());
  std::erase_if(all, [&](const Workload& workload) { return !hello_.offers(workload.row); });
  for (const std::string& name : hello_.rows) {
    const auto own = find_workload(name);
    const auto same = [&](const Workload& workload) { return workload.row == name; };
    if (own && std::none_of(all.begin(), all.end(), same)) all.push_back(*own);
  }
  return all;
}

std::vector<std::string> RowChecks::unknown() const {
  std::vector<std::string> known = row_names(spawn_bench);
  for (const std::string_view bench : {agents_bench, import_bench}) {
    const std::vector<std::string> more = row_names(bench);
    known.insert(known.end(), more.begin(), more.end());
  }
  std::vector<std::string> names;
  for (const std::string& name : hello_.rows) {
    if (!find_workload(name) && std::find(known.begin(), known.end(), name) == known.end())
      names.push_back(name);
  }
  return names;
}

std::string RowChecks::row(const Workload& workload) {
  if (workload.work == Work::durable_crash) return crash(workload);
  if (workload.bench == import_bench) return import_row(workload);
  // Pools that a runtime makes on first use are there after the first sample, so that one is not judged.
  const SampleRequest warm_up = request_for(workload, params_for(workload), 1);
  judge(workload, warm_up.params, driver().sample(warm_up).front());
  return milliseconds_of(sample(workload, 1).front());
}

std::string RowChecks::iterations() {
  const auto rows = offered();
  const auto row = std::find_if(rows.begin(), rows.end(), [](const Workload& workload) {
    return workload.work != Work::durable_crash &&  // its folder is not left as it was
           (workload.work != Work::import_scenario || !import_scenario(workload.row)->needs);
  });
  if (row == rows.end()) throw Skipped{"no row that this version knows and can repeat"};
  return fmt::format("{} samples for 2 iterations of {}", sample(*row, 2).size(), row->row);
}

std::string RowChecks::timeout() {
  const auto all = offered();
  const auto slow = std::find_if(all.begin(), all.end(), [](const Workload& workload) {
    return workload.row == "node_exit_1" || workload.work == Work::mixed_load;
  });
  if (slow == all.end())
    throw Skipped{"no node_exit_1, no mixedLoad: other operations may be done in a millisecond"};
  const bool is_mix = slow->work == Work::mixed_load;
  SampleRequest request = request_for(*slow, params_for(*slow), 1);
  const std::chrono::milliseconds budget(is_mix ? short_mix / 4 : std::chrono::milliseconds(1));
  request.timeout = budget;
  const Sample late = driver().sample(request).front();
  // A mix lasts as long as it is asked to.
  if (late.outcome == Outcome::ok && !is_mix) throw Skipped{"it was done within a millisecond"};
  if (late.outcome != Outcome::timeout) {
    throw Failed{fmt::format("{} with a budget of {} ms: the outcome {}, not timeout", slow->row,
                             budget.count(), name_of(late.outcome))};
  }
  const auto age = late.metric("total");
  if (!age) throw Failed{"a sample of the outcome timeout has no total, its age"};
  if (*age < static_cast<double>(Nanoseconds(budget).count()))
    throw Failed{fmt::format("a timeout of {} ms after {} ns", budget.count(), *age)};
  sample(*slow, 1);
  return fmt::format("ended by the driver after {} ms, and it goes on", text::significant(*age / 1e6));
}

std::optional<Workload> RowChecks::durable_row() const {
  for (Workload& row : offered()) {
    if (is_durable(row.work)) return std::move(row);
  }
  return std::nullopt;
}

std::optional<Workload> RowChecks::agents_row() const {
  for (Workload& row : offered()) {
    if (row.bench == agents_bench && row.work != Work::durable_crash) return std::move(row);
  }
  return std::nullopt;
}

bool RowChecks::keeps_state() const {
  return durable_row().has_value();
}

std::string RowChecks::state_folder() {
  constexpr std::string_view content = "not a folder\n";
  const std::optional<Workload> row = durable_row();
  if (!row) throw Skipped{"no row with durable state"};
  const fs::path file = folder_.path() / "file";
  file::write_atomically(file, content);
  std::string said;
  try {
    const Sample sample = driver().sample(request_for(*row, make_params(*row, ++nonce_, file), 1)).front();
    throw Failed{
        fmt::format("{} with a file for its folder: a sample of the outcome {}, not the error failed",
                    row->row, name_of(sample.outcome))};
  } catch (const DriverFailure& failure) {
    if (failure.kind() != FailureKind::failed) throw;
    said = failure.why();
  }
  if (!fs::is_regular_file(file) || file::read(file) != content) {
    throw Failed{"it changed the file that stood where its folder should be"};
  }
  sample(*row, 1);
  return fmt::format("answered with failed, and it goes on ({})", said);
}

bool RowChecks::keeps_runs() const {
  return agents_row().has_value();
}

std::string RowChecks::other_size() {
  const std::optional<Workload> row = agents_row();
  if (!row) throw Skipped{"no row of a registry"};
  json::Object params = params_for(*row);
  params["size"] = row->size + 1;
  try {
    const Sample sample = driver().sample(request_for(*row, std::move(params), 1)).front();
    throw Failed{fmt::format("{} with the size {}: a sample of the outcome {}, not the error invalid",
                             row->row, row->size + 1, name_of(sample.outcome))};
  } catch (const DriverFailure& failure) {
    if (failure.kind() != FailureKind::invalid) throw;
  }
  sample(*row, 1);
  return "answered with invalid, and it goes on";
}

std::string RowChecks::full_folder() {
  constexpr std::string_view content = "somebody's\n";
  const std::optional<Workload> row = durable_row();
  if (!row) throw Skipped{"no row with durable state"};
  const fs::path state = fresh_state();
  const fs::path file = state / "notes.txt";
  file::write_atomically(file, content);
  std::string said;
  try {
    json::Object params = make_params(*row, ++nonce_, state);
    if (row->work == Work::mixed_load) params["durationMs"] = short_mix.count();
    const Sample sample = driver().sample(request_for(*row, std::move(params), 1)).front();
    throw Failed{
        fmt::format("{} in a folder that holds something: a sample of the outcome {}, not the error "
                    "failed",
                    row->row, name_of(sample.outcome))};
  } catch (const DriverFailure& failure) {
    if (failure.kind() != FailureKind::failed) throw;
    said = failure.why();
  }
  const auto files = std::distance(fs::directory_iterator(state), fs::directory_iterator());
  if (files != 1 || file::read(file) != content) throw Failed{"it changed the folder that was not empty"};
  sample(*row, 1);
  return fmt::format("answered with failed, and it goes on ({})", said);
}

std::string RowChecks::bye() {
  const Farewell farewell = leave(driver());
  driver_.reset();
  if (!farewell.graceful) throw Failed{farewell.note.value_or("it did not leave")};
  return "answered, and left with exit code 0";
}

Driver& RowChecks::driver() {
  if (!driver_ || !driver_->alive()) driver_ = std::make_unique<Driver>(command_, options_.driver);
  return *driver_;
}

Farewell RowChecks::leave(Driver& driver) {
  Farewell farewell = driver.bye();
  strays_ += farewell.strays.killed;
  return farewell;
}

/// The folder of an agents row, empty whatever the sample before left in it.
fs::path RowChecks::fresh_state() const {
  const fs::path state = folder_.path() / "state";
  fs::remove_all(state);
  fs::create_directory(state);
  return state;
}

fs::path RowChecks::folder_of(const Workload& workload) const {
  return workload.bench == agents_bench ? fresh_state() : folder_.path();
}

const ImportWorkspace& RowChecks::workspace() {
  if (!workspace_) workspace_ = std::make_unique<ImportWorkspace>();
  return *workspace_;
}

json::Object RowChecks::params_for(const Workload& workload) {
  if (workload.bench == import_bench)
    return import_params(workload, ++nonce_, workspace().place(workload.row, "check", 0));
  json::Object params = make_params(workload, ++nonce_, folder_of(workload));
  if (workload.work == Work::mixed_load) params["durationMs"] = short_mix.count();
  return params;
}

SampleRequest RowChecks::request_for(const Workload& workload, json::Object params,
                                     std::int64_t iterations) const {
  SampleRequest request;
  request.row = workload.row;
  request.params = std::move(params);
  request.iterations = iterations;
  request.timeout = options_.timeout;
  request.metrics = workload.metrics;
  request.sizes = workload.sizes;
  return request;
}

/// A primed row finds its cache as the first sample left it, so both have the same parameters.
std::string RowChecks::import_row(const Workload& workload) {
  if (const auto why = workspace().why_not(workload.row)) throw Skipped{*why};
  // What a driver keeps between samples is kept for one row: each has a fresh one.
  if (driver_) leave(*driver_);
  driver_.reset();
  SampleRequest request = request_for(workload, params_for(workload), 1);
  if (workload.work == Work::transport)
    request.timeout = std::min<Nanoseconds>(request.timeout, transport_limit);
  want_carried_out(driver().sample(request).front());
  const Sample sample = driver().sample(request).front();
  want_carried_out(sample);
  want_all(judge(workload, request.params, sample));
  return milliseconds_of(sample);
}

/// Samples that are carried out and right.
std::vector<Sample> RowChecks::sample(const Workload& workload, std::int64_t iterations) {
  const SampleRequest request = request_for(workload, params_for(workload), iterations);
  std::vector<Sample> samples = driver().sample(request);
  for (const Sample& one : samples) want_carried_out(one);
  json::Object params = request.params;
  if (workload.work == Work::transport) params[sample_index] = iterations - 1;
  want_all(judge(workload, params, samples.back()));
  return samples;
}

std::string RowChecks::crash(const Workload& workload) {
  const fs::path state = fresh_state();
  AckPipe acks(folder_.path() / "acks");
  const auto phase = [&](const json::Object& params) {
    Driver fresh(command_, options_.driver);
    const Sample sample = fresh.sample(request_for(workload, params, 1)).front();
    leave(fresh);
    want_carried_out(sample);
    return sample;
  };
  const json::Object registration = register_params(workload, ++nonce_, state, acks.path());
  want_all(judge(workload, registration, phase(registration)));
  const std::vector<std::string> acknowledged = acks.finish();
  if (static_cast<std::int64_t>(acknowledged.size()) != workload.size) {
    throw Failed{fmt::format("{} acknowledgements of {} runs", acknowledged.size(), workload.size)};
  }
  const json::Object recovery = recover_params(workload, ++nonce_, state);
  const Sample recovered = phase(recovery);
  std::vector<Judgement> judgements = judge(workload, recovery, recovered);
  const std::vector<Judgement> runs = judge_crash(registration, acknowledged, recovered);
  judgements.insert(judgements.end(), runs.begin(), runs.end());
  want_all(judgements);
  return fmt::format("{} to recover, without a kill", milliseconds_of(recovered));
}

}  // namespace tare::driver
