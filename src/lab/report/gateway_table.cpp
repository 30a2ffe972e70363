#include "lab/report/gateway_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/report/agents_table.hpp"

namespace tare::report {
namespace {

/// Whether a metric has a sample of each request, or one of each run.
enum class Taken { each_request, each_run };

struct GatewayLine {
  const char* group;
  const char* label;
  const char* row;
  const char* metric;
  Taken taken = Taken::each_request;
};

/// In the order in which a reader wants them.
constexpr GatewayLine gateway_lines[] = {
    {"turns", "turns/s", "load", "turns_per_s", Taken::each_run},
    {"turns", "goodput/s", "load", "goodput_per_s", Taken::each_run},
    {"turns", "first token", "turns", "first_token"},
    {"turns", "completed", "turns", "total"},
    {"turns", "added", "turns", "added"},
    {"turns", "accepted", "turns", "accepted"},
    {"turns", "last token", "turns", "last_token"},
    {"turns", "chunk gap", "chunk_gaps", "total"},
    {"turns", "all turns", "load", "total", Taken::each_run},
    {"probes", "readyz", "readyz", "total"},
    {"probes", "Control UI", "control_ui", "total"},
    {"probes", "sessions.list", "sessions_list", "total"},
    {"probes", "chat.history", "chat_history", "total"},
    {"probes", "subscribe", "messages_subscribe", "total"},
    {"probes", "sessions.patch", "sessions_patch", "total"},
    {"probes", "tasks.list", "tasks_list", "total"},
    {"probes", "cron.list", "cron_list", "total"},
    {"probes", "cron.status", "cron_status", "total"},
    {"probes", "new connection", "fresh_connection", "total"},
    {"set-up", "subscribe", "setup_subscribe", "total"},
    {"event loop", "delay p99", "event_loop", "delay_p99"},
    {"event loop", "delay max", "event_loop", "delay_max"},
    {"event loop", "utilization", "event_loop", "utilization"},
    {"event loop", "CPU of a core", "event_loop", "cpu_core_ratio"},
    {"server", "CPU per turn", "server", "cpu_per_turn", Taken::each_run},
    {"server", "CPU in all", "server", "cpu_total", Taken::each_run},
    {"server", "main thread", "server", "cpu_main_thread", Taken::each_run},
    {"server", "CPU of a core", "server", "core_ratio", Taken::each_run},
    {"server", "RSS before", "server", "rss_before", Taken::each_run},
    {"server", "RSS peak", "server", "rss_peak", Taken::each_run},
    {"server", "RSS after", "server", "rss_after", Taken::each_run},
    {"server", "RSS growth", "server", "rss_growth", Taken::each_run},
    {"server", "PSS after", "server", "pss_after", Taken::each_run},
    {"server", "heap", "server", "heap_used", Taken::each_run},
    {"server", "heap growth", "server", "heap_growth", Taken::each_run},
    {"server", "external", "server", "external", Taken::each_run},
    {"server", "its growth", "server", "external_growth", Taken::each_run},
    {"server", "array buffers", "server", "array_buffers", Taken::each_run},
    {"server", "their growth", "server", "array_buffers_growth", Taken::each_run},
    {"server", "start", "server", "ready", Taken::each_run},
    {"server", "stop", "server", "stop", Taken::each_run},
};

/// The line that stands for its row when the row has no figures at all.
bool leads_row(const GatewayLine& line) {
  return &line == std::ranges::find(gateway_lines, std::string_view(line.row), &GatewayLine::row);
}

std::string value_text(double value, std::string_view unit) {
  if (unit == "ms") return value < 0 ? "-" + duration_text(-value) : duration_text(value);
  return unit == "bytes" ? with_unit(value, unit) : text::significant(value);
}

class GatewayTable {
 public:
  GatewayTable(const Figures& figures, GatewayColumns columns, Footnotes& notes)
      : figures_(figures), columns_(columns), notes_(notes), reference_(gateway_reference(figures)) {}

  Table build() {
    table_.title = "gateway";
    table_.label_columns = 2;
    for (const Target& target : figures_.targets()) {
      if (shown(target)) add_lane(target);
    }
    for (const GatewayLine& line : gateway_lines) {
      if (says_something(line)) add_line(line);
    }
    return std::move(table_);
  }

 private:
  bool shown(const Target& lane) const {
    return std::ranges::any_of(figures_.rows(), [&](const std::string& name) {
      const Row* row = figures_.row(name, lane.id);
      return row != nullptr && (row->status == RowStatus::failed || figures_.measured(name, lane.id));
    });
  }

  bool says_something(const GatewayLine& line) const {
    return std::ranges::any_of(lanes_, [&](const Target* lane) {
      const Row* row = figures_.row(line.row, lane->id);
      return row != nullptr && (row->metrics.contains(line.metric) ||
                                (row->metrics.empty() && leads_row(line) && row->status != RowStatus::ok));
    });
  }

  bool is_compared(const Target& lane) const { return !reference_.empty() && lane.id != reference_; }

  void add_lane(const Target& lane) {
    lanes_.push_back(&lane);
    Lanes columns{lane.id, {{"p50"}}};
    if (columns_ >= GatewayColumns::p95_p99) columns.columns.push_back({"p95"});
    if (columns_ >= GatewayColumns::p99) columns.columns.push_back({"p99"});
    if (columns_ >= GatewayColumns::p95_p99_max) columns.columns.push_back({"max"});
    if (is_compared(lane)) columns.columns.push_back({"÷ " + reference_});
    table_.lanes.push_back(std::move(columns));
  }

  void add_line(const GatewayLine& line) {
    TableLine out{{line.group, line.label}, {}, n_of(line)};
    for (const Target* lane : lanes_) add_cells(out.cells, line, *lane);
    table_.lines.push_back(std::move(out));
  }

  void add_cells(std::vector<Cell>& cells, const GatewayLine& line, const Target& lane) {
    const Metric* metric = figures_.metric(line.row, lane.id, line.metric);
    if (metric != nullptr && metric->summary.count == 0) metric = nullptr;
    cells.push_back(metric != nullptr ? middle_cell(line, lane, *metric) : missing_cell(line, lane));
    if (columns_ >= GatewayColumns::p95_p99) cells.push_back(tail_cell(line, metric, 0.95));
    if (columns_ >= GatewayColumns::p99) cells.push_back(tail_cell(line, metric, 0.99));
    if (columns_ >= GatewayColumns::p95_p99_max) {
      const bool several = metric != nullptr && metric->summary.count > 1;
      cells.push_back(several ? Cell{value_text(*metric->summary.max, metric->unit)} : Cell{});
    }
    if (is_compared(lane)) cells.push_back(ratio_cell(line, lane));
  }

  Cell missing_cell(const GatewayLine& line, const Target& lane) {
    const Row* row = figures_.row(line.row, lane.id);
    const bool has_some = row != nullptr && row->status == RowStatus::ok && !row->metrics.empty();
    const bool failed = row != nullptr && row->status == RowStatus::failed;
    const std::string why = has_some ? "not known of this gateway" : figures_.why_missing(line.row, lane.id);
    const std::string mark = notes_.mark(lane.id + ": " + why);
    return failed ? Cell{"failed", Tone::bad, mark} : Cell{"n/a", Tone::plain, mark};
  }

  Cell middle_cell(const GatewayLine& line, const Target& lane, const Metric& metric) {
    Cell cell{value_text(*metric.summary.p50, metric.unit)};
    const Row& row = *figures_.row(line.row, lane.id);
    if (const std::string failure = failure_text(row, metric); !failure.empty()) {
      cell.tone = Tone::bad;
      cell.mark = notes_.mark(fmt::format("{}, {}: {}", lane.id, gateway_row_label(line.row), failure));
    }
    if (metric.histogram) {
      const std::string mark =
          notes_.mark("quantiles from a histogram, to 3 digits: there were more samples than are kept");
      cell.mark += (cell.mark.empty() ? "" : " ") + mark;
    }
    return cell;
  }

  static Cell tail_cell(const GatewayLine& line, const Metric* metric, double q) {
    if (metric == nullptr) return {};
    const std::optional<double>& value = q < 0.99 ? metric->summary.p95 : metric->summary.p99;
    if (value) return {value_text(*value, metric->unit)};
    if (line.taken == Taken::each_run) return {};
    return {fmt::format("n<{}", measure::smallest_n(q))};
  }

  Cell ratio_cell(const GatewayLine& line, const Target& lane) const {
    const Comparison* found =
        figures_.comparison(ComparisonKind::emulation, line.row, line.metric, "p50", lane.id);
    return found != nullptr && found->ratio ? Cell{ratio_figure(*found).text} : Cell{};
  }

  /// The n of the lane that lost most, or of all.
  std::string n_of(const GatewayLine& line) const {
    std::vector<SampleCount> counts;
    for (const Target* lane : lanes_) {
      const Metric* metric = figures_.metric(line.row, lane->id, line.metric);
      if (metric != nullptr) counts.push_back(sample_count(*figures_.row(line.row, lane->id), *metric));
    }
    if (counts.empty()) return {};
    const auto lost = [](const SampleCount& count) { return count.taken - count.ok; };
    const SampleCount worst = *std::ranges::max_element(counts, {}, lost);
    const auto [low, high] = std::ranges::minmax(counts, {}, &SampleCount::ok);
    if (lost(worst) > 0 || low.ok == high.ok) return n_text(worst);
    return fmt::format("n={}–{}", text::count(low.ok), text::count(high.ok));
  }

  const Figures& figures_;
  GatewayColumns columns_;
  Footnotes& notes_;
  std::string reference_;
  std::vector<const Target*> lanes_;
  Table table_;
};

}  // namespace

std::string gateway_row_label(std::string_view row) {
  if (row == "setup_subscribe") return "set-up";
  if (row == "load" || row == "event_loop" || row == "server" || row == "turns" || row == "chunk_gaps")
    return text::join(text::split(row, '_'), " ");
  const auto found = std::ranges::find(gateway_lines, row, &GatewayLine::row);
  return found == std::end(gateway_lines) ? std::string(row) : found->label;
}

std::string gateway_reference(const Figures& figures) {
  for (const Comparison& one : figures.document().comparisons) {
    if (one.kind == ComparisonKind::emulation) return one.reference;
  }
  return {};
}

Table gateway_table(const Figures& figures, GatewayColumns columns, Footnotes& notes) {
  return GatewayTable(figures, columns, notes).build();
}

}  // namespace tare::report
