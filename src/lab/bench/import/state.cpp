#include "lab/bench/import/state.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/bench/common/resume.hpp"

namespace tare::import_bench {
namespace {

namespace fs = std::filesystem;

Error unfit(const std::string& why) {
  return Error(ErrorCode::input, "cannot resume", why);
}

std::string shown(const json::Value* value) {
  if (value == nullptr) return "none";
  const std::string text = json::line(*value);
  constexpr std::size_t enough = 60;
  return text.size() > enough ? text.substr(0, enough) + "…" : text;
}

void check_options(const report::Document& before, const Options& options) {
  const json::Value now = json::parse(json::line(options), "options");
  const json::Object* had = before.config.if_object();
  if (had == nullptr) throw unfit("it has no options");
  for (const auto& option : now.get_object()) {
    const json::Value* other = had->if_contains(option.key());
    if (other != nullptr && *other == option.value()) continue;
    if (option.key() == "scenarios") throw unfit("it is of other scenarios");
    throw unfit(fmt::format("it was run with other options: {} {}, now {}", std::string_view(option.key()),
                            shown(other), shown(&option.value())));
  }
}

bool failed(const report::Document& document, const std::string& row) {
  return std::ranges::any_of(document.rows, [&](const report::Row& one) {
    return one.row == row && one.status == report::RowStatus::failed;
  });
}

/// A stage has every lane, each with all its samples, or the reason why it has none.
void check_stage(const report::Document& document, const Options& options, const std::string& name) {
  for (const report::Target& target : document.targets) {
    const report::Row* row = report::find_row(document, name, target.id);
    if (row == nullptr) throw unfit(fmt::format("{} is not there on {}", name, target.id));
    if (row->status == report::RowStatus::unavailable && row->metrics.empty() && row->reason) continue;
    const auto total = row->metrics.find("total");
    if (row->status != report::RowStatus::ok || total == row->metrics.end() ||
        total->second.samples.size() != options.iterations * options.processes)
      throw unfit(fmt::format("{} on {} is not whole", name, target.id));
    for (const auto& [metric, values] : row->metrics) {
      if (values.unit == "ms" || values.unit == "bytes") continue;
      throw unfit(fmt::format("{} on {}: {} is in '{}'", name, target.id, text::one_line(metric),
                              text::one_line(values.unit)));
    }
  }
}

report::Document checked(const fs::path& path, const Options& options) {
  report::Document document = report::load(path);
  const std::string source = path.string();
  bench::check_resumable(document, options.bench, source);
  check_options(document, options);
  bench::check_rows(document, options.rows, source,
                    [&](const std::string&) { return options.iterations * options.processes; });
  if (document.targets.empty()) throw unfit("it names no targets");
  const std::vector<report::Row> rows = document.rows;
  for (const report::Row& row : rows) {
    if (row.bench != options.bench) throw unfit(fmt::format("{} is of bench '{}'", row.row, row.bench));
    if (!failed(document, row.row)) check_stage(document, options, row.row);
  }
  std::set<std::string> broken;
  for (const report::Row& row : rows) {
    if (row.status == report::RowStatus::failed) broken.insert(row.row);
  }
  std::erase_if(document.rows, [&](const report::Row& row) { return broken.contains(row.row); });
  return document;
}

}  // namespace

std::string why_of(const Error& error) {
  const std::string what = error.what();
  const std::string why = error.why();
  if (what.starts_with("cannot resume")) return why;
  return why.empty() ? what : fmt::format("{}: {}", what, why);
}

std::string ignored(const fs::path& path, const std::string& why) {
  return text::one_line(fmt::format("{} is ignored ({})", path.string(), why));
}

std::uint64_t stages_of(const report::Document& document) {
  std::set<std::string> rows;
  for (const report::Row& row : document.rows) rows.insert(row.row);
  return rows.size();
}

std::optional<report::Document> find_state(const fs::path& path, const Options& options, StateUse use,
                                           const std::function<void(const std::string&)>& say) {
  if (use == StateUse::ignore) return std::nullopt;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) {
    if (use == StateUse::if_it_fits) return std::nullopt;
    throw Error(ErrorCode::input, "nothing to resume", fmt::format("there is no {}", path.string()),
                "a run that was cut short leaves one; leave --resume out to start anew");
  }
  try {
    return checked(path, options);
  } catch (const Error& unfitting) {
    if (use == StateUse::demand)
      throw Error(ErrorCode::input, fmt::format("cannot resume {}", path.string()), why_of(unfitting),
                  "--fresh starts anew");
    say(ignored(path, why_of(unfitting)));
    return std::nullopt;
  }
}

}  // namespace tare::import_bench
