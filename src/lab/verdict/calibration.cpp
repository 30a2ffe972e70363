#include "lab/verdict/calibration.hpp"

#include <algorithm>
#include <cmath>

#include <boost/describe.hpp>

#include "base/file.hpp"
#include "lab/verdict/compare.hpp"

namespace tare::verdict {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view cache_schema = "tare.calibration.v1";

struct Machine {
  measure::HostFacts host;
  std::vector<report::Calibration> entries;
};
BOOST_DESCRIBE_STRUCT(Machine, (), (host, entries))

struct Cache {
  std::string schema = std::string(cache_schema);
  std::vector<Machine> machines;
};
BOOST_DESCRIBE_STRUCT(Cache, (), (schema, machines))

Cache load(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  const auto cache = json::read<Cache>(json::parse(file::read(path), path.string()), path.string());
  if (cache.schema != cache_schema) {
    throw Error(ErrorCode::input, path.string(), "its schema is " + cache.schema,
                "remove it and calibrate again");
  }
  return cache;
}

bool on(const Machine& machine, const report::Document& document) {
  report::Document other;
  other.host = machine.host;
  return same_machine(other, document);
}

bool about_the_same(const report::Calibration& a, const report::Calibration& b) {
  return a.target == b.target && a.row == b.row && a.metric == b.metric && a.quantile == b.quantile;
}

}  // namespace

fs::path calibration_file() {
  return file::cache_folder() / "calibration.json";
}

std::vector<report::Calibration> calibrations_for(const report::Document& document, const fs::path& cache) {
  std::vector<report::Calibration> known;
  for (Machine& machine : load(cache).machines) {
    if (on(machine, document)) known = std::move(machine.entries);
  }
  if (document.calibrations)
    known.insert(known.end(), document.calibrations->begin(), document.calibrations->end());
  return known;
}

void save_calibrations(const report::Document& document, std::vector<report::Calibration> entries,
                       const fs::path& path) {
  Cache cache = load(path);
  auto machine = std::ranges::find_if(cache.machines, [&](const Machine& one) { return on(one, document); });
  if (machine == cache.machines.end()) machine = cache.machines.insert(cache.machines.end(), Machine{});
  machine->host = document.host;
  std::erase_if(machine->entries, [&](const report::Calibration& old) {
    return std::ranges::any_of(entries, [&](const auto& entry) { return about_the_same(entry, old); });
  });
  for (report::Calibration& entry : entries) machine->entries.push_back(std::move(entry));
  fs::create_directories(path.parent_path());
  file::write_atomically(path, json::pretty(cache));
}

std::optional<double> minimum_detectable(const std::vector<report::Calibration>& known,
                                         const Design& design) {
  const auto found = std::ranges::find_if(known, [&](const report::Calibration& entry) {
    return entry.target == design.target && entry.row == design.row && entry.metric == design.metric &&
           entry.quantile == design.quantile;
  });
  if (found == known.end() || found->first.size() != found->second.size()) return std::nullopt;
  const auto effect =
      measure::minimum_detectable(found->first, found->second, design.pairing, design.processes);
  // Fewer samples a process than were calibrated see less: the error of a median goes with 1/√n.
  const double scarcity = static_cast<double>(found->iterations) /
                          static_cast<double>(std::max<std::uint64_t>(design.samples, 1));
  return effect ? std::optional(*effect * std::sqrt(std::max(scarcity, 1.0))) : std::nullopt;
}

}  // namespace tare::verdict
