#include "lab/verdict/compare.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lab/measure/holm.hpp"
#include "lab/report/provenance.hpp"
#include "lab/verdict/calibration.hpp"
#include "lab/verdict/effect.hpp"
#include "lab/verdict/pairing.hpp"

namespace tare::verdict {
namespace {

struct Quantile {
  const char* name;
  double q;
};
constexpr std::array<Quantile, 3> quantiles{{{"p50", 0.50}, {"p95", 0.95}, {"p99", 0.99}}};

const report::Target* find_target(const report::Document& document, const std::string& id) {
  const auto found = std::ranges::find(document.targets, id, &report::Target::id);
  return found == document.targets.end() ? nullptr : &*found;
}

bool asynchronous(const report::Document& document, const std::string& target) {
  const report::Target* facts = find_target(document, target);
  return facts != nullptr && facts->asynchronous_spawn.value_or(false);
}

std::string name_of(const report::Row& row) {
  std::string name = fmt::format("{} on {}", row.row, row.target);
  if (row.status != report::RowStatus::ok) name += fmt::format(" ({})", row.reason.value_or("not ok"));
  return name;
}

/// Whether a row has figures at all.
bool measured(const report::Row& row) {
  return row.status == report::RowStatus::ok && !row.metrics.empty();
}

void fill(Entry& entry, const Effect& effect) {
  entry.base = effect.base;
  entry.now = effect.now;
  entry.base_n = effect.base_n;
  entry.now_n = effect.now_n;
  entry.base_processes = effect.base_processes;
  entry.now_processes = effect.now_processes;
  entry.pairs = effect.pairs;
  entry.ratio = effect.ratio;
  entry.interval = effect.interval;
  entry.difference = effect.difference;
  entry.difference_interval = effect.difference_interval;
  entry.effect_size = effect.delta;
  entry.p = effect.p;
  entry.method = effect.method;
  entry.reason = effect.reason;
}

class Comparer {
 public:
  Comparer(const Source& base, const Source& now, const CompareOptions& options)
      : base_(base), now_(now), options_(options) {
    result_.now = side_of(now);
    result_.paired = base.document == now.document;
    result_.same_machine = same_machine(*base.document, *now.document);
    if (!result_.paired) result_.noise_floor = noise_floor(*base.document, *now.document);
    if (!result_.paired) result_.differences = differences(*base.document, *now.document);
  }

  Comparison compare() {
    for (const report::Row& row : base_.document->rows) {
      if (base_.target && row.target != *base_.target) continue;
      const report::Row* other = counterpart(row, *now_.document, now_.target);
      compare_rows(row, other);
    }
    for (const report::Row& row : now_.document->rows) {
      if (now_.target && row.target != *now_.target) continue;
      if (counterpart(row, *base_.document, base_.target) == nullptr && measured(row))
        result_.extra.push_back(name_of(row));
    }
    judge();
    return std::move(result_);
  }

 private:
  /// How an entry's sides were measured.
  struct Design {
    Pairing pairing = Pairing::unpaired;
    std::string_view repeat_flag = "--processes";
  };

  static const report::Row* counterpart(const report::Row& row, const report::Document& document,
                                        const std::optional<std::string>& target) {
    return report::find_row(document, row.row, target.value_or(row.target));
  }

  void compare_rows(const report::Row& base, const report::Row* now) {
    if (!measured(base)) {
      // What neither side could measure is no news.
      if (now != nullptr && measured(*now)) result_.extra.push_back(name_of(*now));
      return;
    }
    if (now == nullptr || !measured(*now)) {
      result_.missing.push_back(now == nullptr ? name_of(base) : name_of(*now));
      const std::string why = now == nullptr ? "no such row" : now->reason.value_or("not measured");
      for (const auto& [name, metric] : base.metrics) add_missing(base, name, metric, why);
      return;
    }
    for (const auto& [name, metric] : base.metrics) {
      if (!comparable(name, base.target, now->target)) continue;
      const auto found = now->metrics.find(name);
      if (found == now->metrics.end()) {
        add_missing(base, name, metric, "no such metric");
      } else {
        compare_metrics(base, *now, name, metric, found->second);
      }
    }
  }

  bool comparable(const std::string& metric, const std::string& base, const std::string& now) const {
    return metric == "total" || base == now ||
           (!asynchronous(*base_.document, base) && !asynchronous(*now_.document, now));
  }

  static Entry named(const report::Row& base, const std::string& new_target, const std::string& metric,
                     const report::Metric& facts, const char* quantile) {
    Entry entry;
    entry.row = base.row;
    entry.target = base.target;
    entry.new_target = new_target;
    entry.metric = metric;
    entry.quantile = quantile;
    entry.unit = facts.unit;
    entry.better = facts.better;
    return entry;
  }

  void add_missing(const report::Row& base, const std::string& name, const report::Metric& metric,
                   const std::string& why) {
    Entry entry = named(base, now_.target.value_or(base.target), name, metric, "p50");
    entry.base = metric.summary.p50;
    entry.base_n = metric.summary.count;
    entry.reason = why;
    result_.entries.push_back(std::move(entry));
  }

  void compare_metrics(const report::Row& base_row, const report::Row& now_row, const std::string& name,
                       const report::Metric& base_metric, const report::Metric& now_metric) {
    const Series base = series_of(base_metric);
    const std::optional<Series> now = in_unit(series_of(now_metric), base.unit);
    if (!now) {
      return add_missing(base_row, name, base_metric,
                         fmt::format("its unit is {}, not {}", now_metric.unit, base.unit));
    }
    for (const Quantile& quantile : quantiles) {
      const bool carried = std::min(count_of(base), count_of(*now)) >= measure::smallest_n(quantile.q);
      if (!carried && quantile.q != 0.5) continue;
      Entry entry = named(base_row, now_row.target, name, base_metric, quantile.name);
      const Pairing pairing = result_.paired ? pairing_of_lanes(base_row, now_row) : Pairing::unpaired;
      const std::string_view flag = repeat_flag(base_row);
      fill(entry,
           effect_of(base, *now,
                     {quantile.q, pairing, options_.tolerance, options_.seed, paired_by(base_row), flag}));
      entry.minimum_detectable = detectable(entry, pairing);
      designs_.resize(result_.entries.size());
      designs_.push_back({pairing, flag});
      result_.entries.push_back(std::move(entry));
    }
  }

  std::optional<double> detectable(const Entry& entry, Pairing pairing) const {
    const std::uint64_t processes =
        std::max<std::uint64_t>(1, std::min(entry.base_processes, entry.now_processes));
    const std::uint64_t samples = std::min(entry.base_n, entry.now_n) / processes;
    std::optional<double> largest;
    for (const std::string& target : {entry.target, entry.new_target}) {
      const auto one =
          minimum_detectable(options_.calibrations,
                             {target, entry.row, entry.metric, entry.quantile, pairing, processes, samples});
      if (one) largest = std::max(largest.value_or(0), *one);
    }
    if (result_.noise_floor > 0) largest = std::max(largest.value_or(0), result_.noise_floor);
    return largest;
  }

  void judge() {
    std::vector<double> p;
    for (const Entry& entry : result_.entries) {
      if (entry.p) p.push_back(*entry.p);
    }
    const std::vector<double> adjusted = measure::holm(p);
    designs_.resize(result_.entries.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < result_.entries.size(); ++i) {
      Entry& entry = result_.entries[i];
      if (entry.p) entry.p_adjusted = adjusted[next++];
      Ruling ruling =
          rule(entry, {options_.tolerance, p.size(), designs_[i].pairing, designs_[i].repeat_flag});
      const bool comparable = result_.same_machine || options_.machines == Machines::may_differ;
      if (!comparable && ruling.change != Change::missing) {
        ruling = {Change::unclear, report::Verdict::inconclusive, "measured on different machines"};
      }
      entry.change = ruling.change;
      entry.verdict = ruling.verdict;
      if (ruling.reason) entry.reason = std::move(ruling.reason);
    }
  }

  const Source& base_;
  const Source& now_;
  const CompareOptions& options_;
  Comparison result_;
  std::vector<Design> designs_;  ///< parallel to its entries
};

}  // namespace

Comparison compare(const Source& base, const Source& now, const CompareOptions& options) {
  return Comparer(base, now, options).compare();
}

Side side_of(const Source& source) {
  const report::Document& document = *source.document;
  return {source.name,
          source.target,
          document.started_at,
          document.complete,
          fmt::format("tare {} ({}, {})", document.tool.version, document.tool.commit, document.tool.build),
          report::host_line(document)};
}

}  // namespace tare::verdict
