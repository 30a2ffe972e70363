#include "lab/driver/judge_crash.hpp"

#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/driver/agents.hpp"
#include "lab/driver/judge_words.hpp"

namespace tare::driver {
namespace {

/// A condition that holds for each of many things, with the first for which it does not.
class Each {
 public:
  Each(std::string id, std::string expected) : id_(std::move(id)), expected_(std::move(expected)) {}

  void expect(bool ok, std::string_view thing) {
    ++seen_;
    if (ok) return;
    if (broken_++ == 0) first_ = thing;
  }

  Judgement take(std::string_view fault) const {
    if (broken_ == 0) return {id_, true, expected_, fmt::format("all {}", seen_)};
    return {id_, false, expected_,
            fmt::format("{} of {} {}, the first: '{}'", broken_, seen_, fault,
                        text::one_line(std::string_view(first_).substr(0, 60)))};
  }

 private:
  std::string id_;
  std::string expected_;
  std::size_t seen_ = 0;
  std::size_t broken_ = 0;
  std::string first_;
};

/// The number of a label, or nothing when no such run was ever submitted.
std::optional<std::int64_t> submitted_number(std::string_view label, std::string_view nonce,
                                             std::int64_t runs) {
  if (!label.starts_with(nonce) || label.size() <= nonce.size() + 1) return std::nullopt;
  const auto k = text::to_int(label.substr(nonce.size() + 1));
  if (!k || *k < 0 || *k >= runs || label != crash_label(nonce, *k)) return std::nullopt;
  return k;
}

Judgement in_flight_bound(std::size_t present, std::size_t acknowledged) {
  const auto bound = static_cast<std::size_t>(crash_in_flight);
  return {"in_flight_bound", present <= acknowledged + bound,
          fmt::format("at most {} runs that were not acknowledged", bound),
          fmt::format("{} restored, {} acknowledged", present, acknowledged)};
}

}  // namespace

std::vector<Restored> restored_runs(const Sample& sample) {
  std::vector<Restored> runs;
  for (const std::string& line : text::split(sample.output.value_or(""), '\n')) {
    if (line.empty()) continue;
    const std::size_t first = line.find(' ');
    const std::size_t second = first == std::string::npos ? first : line.find(' ', first + 1);
    Restored run;
    run.label = line.substr(0, first);
    if (first != std::string::npos) run.status = line.substr(first + 1, second - first - 1);
    if (second != std::string::npos) run.task = line.substr(second + 1);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<Judgement> judge_crash(const json::Object& params, const std::vector<std::string>& acknowledged,
                                   const Sample& recovered) {
  if (recovered.outcome != Outcome::ok) return {};
  const std::string nonce = member(params, "nonce");
  const json::Value* size = params.if_contains("size");
  const std::int64_t runs = size != nullptr && size->is_int64() ? size->get_int64() : 0;

  Each nothing_else("nothing_else", "runs that were submitted, and no others");
  Each intact("intact", "each run with the task text that it was given");
  Each interrupted("interrupted", "each run interrupted");
  Each once("once", "each run once");
  std::set<std::string> present;
  for (const Restored& run : restored_runs(recovered)) {
    const auto k = submitted_number(run.label, nonce, runs);
    nothing_else.expect(k.has_value(), run.label);
    if (!k) continue;
    once.expect(present.insert(run.label).second, run.label);
    intact.expect(run.task == crash_task(*k), run.label);
    interrupted.expect(run.status == "interrupted", fmt::format("{} {}", run.label, run.status));
  }
  Each acknowledged_present("acknowledged_present", "each run that was acknowledged");
  const std::set<std::string> labels(acknowledged.begin(), acknowledged.end());
  for (const std::string& label : labels) acknowledged_present.expect(present.contains(label), label);

  return {acknowledged_present.take("lost"), nothing_else.take("never submitted"),
          intact.take("with another text"),  interrupted.take("not interrupted"),
          once.take("there again"),          in_flight_bound(present.size(), labels.size())};
}

}  // namespace tare::driver
