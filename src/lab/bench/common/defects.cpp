#include "lab/bench/common/defects.hpp"

#include <algorithm>
#include <fnmatch.h>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace tare::bench {

std::vector<Defect> load_defects(const std::filesystem::path& path, std::string_view version) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return {};
  auto defects = json::read<std::vector<Defect>>(json::parse(file::read(path), path.string()), path.string(),
                                                 json::Unknown::refuse);
  std::erase_if(defects, [&](const Defect& defect) { return defect.version != version; });
  return defects;
}

bool concerns(const Defect& defect, std::string_view row) {
  return ::fnmatch(defect.row.c_str(), std::string(row).c_str(), FNM_EXTMATCH) == 0;
}

std::optional<std::string> why_unavailable(const std::vector<Defect>& defects, std::string_view row) {
  for (const Defect& defect : defects) {
    if (defect.effect == DefectEffect::unavailable && concerns(defect, row))
      return fmt::format("{}{}: {}", known_defect, defect.version, defect.text);
  }
  return std::nullopt;
}

std::set<std::string> excused_checks(const std::vector<Defect>& defects, std::string_view row) {
  std::set<std::string> checks;
  for (const Defect& defect : defects) {
    if (defect.check && concerns(defect, row)) checks.insert(*defect.check);
  }
  return checks;
}

std::string defect_counter(std::string_view check) {
  return fmt::format("defect_{}", check);
}

std::vector<report::Finding> defect_findings(const report::Document& document, const std::string& target,
                                             const std::vector<Defect>& defects) {
  std::vector<report::Finding> findings;
  std::vector<std::pair<std::string, std::vector<std::string>>> seen;  // text, and the rows that it is about
  for (const Defect& defect : defects) {
    if (defect.effect == DefectEffect::unavailable) continue;  // the row itself says so
    auto same =
        std::ranges::find(seen, defect.text, &std::pair<std::string, std::vector<std::string>>::first);
    if (same == seen.end()) same = seen.insert(seen.end(), {defect.text, {}});
    std::vector<std::string>& rows = same->second;
    for (const report::Row& row : document.rows) {
      if (row.target != target || row.metrics.empty() || !concerns(defect, row.row)) continue;
      if (!defect.check) {
        rows.push_back(row.row);
        continue;
      }
      const auto broken = row.counters.find(defect_counter(*defect.check));
      if (broken != row.counters.end() && broken->second > 0)
        rows.push_back(fmt::format("{} ({} times here)", row.row, broken->second));
    }
  }
  for (const auto& [text, rows] : seen) {
    if (rows.empty()) continue;
    findings.push_back(
        {report::FindingLevel::warn,
         target,
         {},
         fmt::format("{}{} in {}: {}", known_defect, defects.front().version, text::join(rows, ", "), text)});
  }
  return findings;
}

}  // namespace tare::bench
