#include "lab/measure/noise.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/measure/cgroup.hpp"
#include "lab/measure/facts.hpp"

namespace tare::measure {
namespace {

namespace fs = std::filesystem;

/// /proc/stat counts in USER_HZ, which is 100 in every Linux ABI.
constexpr double ms_per_tick = 10;

/// "avg10=6.34" out of "some avg10=6.34 avg60=3.24 avg300=1.61 total=11364688".
std::optional<double> field(std::string_view line, std::string_view name) {
  for (const std::string& part : text::split(line, ' ')) {
    if (part.starts_with(name)) return text::to_double(std::string_view(part).substr(name.size()));
  }
  return std::nullopt;
}

std::optional<Pressure> read_pressure(const fs::path& path) {
  const auto content = facts::text(path);
  const auto some = content ? facts::value_of(*content, "some", " ") : std::nullopt;
  if (!some) return std::nullopt;
  const auto average = field(*some, "avg10=");
  const auto total = field(*some, "total=");
  if (!average || !total || *total < 0) return std::nullopt;
  Pressure pressure{*average, static_cast<std::uint64_t>(*total), std::nullopt, std::nullopt};
  if (const auto full = facts::value_of(*content, "full", " ")) {
    pressure.full_avg10 = field(*full, "avg10=");
    if (const auto full_total = field(*full, "total="); full_total && *full_total >= 0) {
      pressure.full_total_us = static_cast<std::uint64_t>(*full_total);
    }
  }
  return pressure;
}

std::vector<double> read_load(const fs::path& path) {
  const auto content = facts::text(path);
  if (!content) return {};
  std::vector<double> load;
  for (const std::string& part : text::split(*content, ' ')) {
    const auto value = text::to_double(part);
    if (!value) return {};
    load.push_back(*value);
    if (load.size() == 3) return load;
  }
  return {};
}

/// The eighth figure of "cpu  user nice system idle iowait irq softirq steal guest guest_nice".
std::optional<double> steal(std::string_view stat) {
  const auto line = facts::value_of(stat, "cpu", " ");
  if (!line) return std::nullopt;
  const auto parts = text::split(*line, ' ');
  if (parts.size() < 8) return std::nullopt;
  const auto ticks = facts::leading_number(parts[7]);
  if (!ticks) return std::nullopt;
  return static_cast<double>(*ticks) * ms_per_tick;
}

std::optional<std::uint64_t> counter(std::string_view stat, std::string_view name) {
  const auto value = facts::value_of(stat, name, " ");
  return value ? facts::leading_number(*value) : std::nullopt;
}

/// Collects reasons; the level is that of the worst.
class Judgement {
 public:
  void add(NoiseLevel level, std::string reason) {
    noise_.level = std::max(noise_.level, level);
    noise_.reasons.push_back(std::move(reason));
  }

  void add_pressure(std::string_view name, const std::optional<Pressure>& before,
                    const std::optional<Pressure>& after) {
    const double worst = std::max(before ? before->some_avg10 : 0.0, after ? after->some_avg10 : 0.0);
    if (worst <= 5) return;
    add(worst > 20 ? NoiseLevel::busy : NoiseLevel::moderate,
        fmt::format("tasks waited for {} {:.1f} % of 10 s (quiet: up to 5 %)", name, worst));
  }

  Noise result() && { return std::move(noise_); }

 private:
  Noise noise_;
};

}  // namespace

NoiseFacts read_noise(const fs::path& root) {
  NoiseFacts noise;
  noise.load = read_load(root / "proc/loadavg");
  noise.psi = Pressures{read_pressure(root / "proc/pressure/cpu"), read_pressure(root / "proc/pressure/io"),
                        read_pressure(root / "proc/pressure/memory")};
  if (const auto stat = facts::text(root / "proc/stat")) {
    noise.steal_ms = steal(*stat);
    noise.context_switches = counter(*stat, "ctxt");
    noise.running = counter(*stat, "procs_running");
  }
  noise.nr_throttled = read_cgroup(root).nr_throttled;
  return noise;
}

Noise judge(const NoiseFacts& before, const NoiseFacts& after, double cpus) {
  Judgement judgement;
  if (!before.load.empty() && before.load[0] > cpus / 2) {
    judgement.add(before.load[0] > cpus ? NoiseLevel::busy : NoiseLevel::moderate,
                  fmt::format("load {:.1f} on {:g} processors before the run (quiet: up to {:g})",
                              before.load[0], cpus, cpus / 2));
  }
  judgement.add_pressure("a processor", before.psi.cpu, after.psi.cpu);
  judgement.add_pressure("the disk", before.psi.io, after.psi.io);
  judgement.add_pressure("memory", before.psi.memory, after.psi.memory);
  if (before.steal_ms && after.steal_ms && *after.steal_ms > *before.steal_ms) {
    const double stolen = *after.steal_ms - *before.steal_ms;
    judgement.add(stolen >= 1000 ? NoiseLevel::busy : NoiseLevel::moderate,
                  fmt::format("the hypervisor took {} ms away (steal)", text::significant(stolen)));
  }
  if (before.nr_throttled && after.nr_throttled && *after.nr_throttled > *before.nr_throttled) {
    judgement.add(NoiseLevel::busy,
                  fmt::format("stopped {} times for the processor quota of the control group",
                              *after.nr_throttled - *before.nr_throttled));
  }
  return std::move(judgement).result();
}

}  // namespace tare::measure
