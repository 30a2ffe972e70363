#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

#include "lab/report/document.hpp"

/// Defects of pinned peers that are known: they are shown as findings and do not fail a run. The same break
/// on any other target or version does.
namespace tare::bench {

BOOST_DEFINE_ENUM_CLASS(DefectEffect,
                        note,        // shown; with a check, that check is a finding and no invariant
                        unavailable  // the row is not measured
)

struct Defect {
  std::string version;               ///< of the target for which it holds
  std::string row;                   ///< with a shell's wildcards, as "capture_*" or "fanout_@(64|100)"
  std::optional<std::string> check;  ///< the one invariant that it breaks; null: none in particular
  std::string text;                  ///< one line for a reader
  DefectEffect effect = DefectEffect::note;
};
BOOST_DESCRIBE_STRUCT(Defect, (), (version, row, check, text, effect))

/// How the reason of a row begins that a known defect makes unavailable.
inline constexpr std::string_view known_defect = "known defect of ";

/// Those of a file that hold for this version. No file has none. Throws Error(input) when it is damaged.
std::vector<Defect> load_defects(const std::filesystem::path& path, std::string_view version);

bool concerns(const Defect& defect, std::string_view row);

/// The reason that makes a row unavailable, if there is one.
std::optional<std::string> why_unavailable(const std::vector<Defect>& defects, std::string_view row);

/// The checks that are no invariants in this row.
std::set<std::string> excused_checks(const std::vector<Defect>& defects, std::string_view row);

/// Under which name a row counts how often an excused check was broken.
std::string defect_counter(std::string_view check);

/// What a reader of these rows should know; nothing about rows that were not measured.
std::vector<report::Finding> defect_findings(const report::Document& document, const std::string& target,
                                             const std::vector<Defect>& defects);

}  // namespace tare::bench
