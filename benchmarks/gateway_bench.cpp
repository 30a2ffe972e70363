#include "gateway_bench.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "gateway_lanes.hpp"
#include "lab/process/poll.hpp"
#include "lab/process/proc.hpp"
#include "peer.hpp"

namespace tare::benchmarks {
namespace {

using namespace std::chrono_literals;

constexpr auto lab_limit = 10min;
constexpr auto lab_leave_limit = 30s;
constexpr auto lab_look_every = 10ms;
constexpr double lab_mb = 1024 * 1024;

/// What a process had used at some moments, in between by a straight line.
class CpuTrace {
 public:
  void add(Instant at, Nanoseconds used) { moments_.push_back({at, used}); }
  Nanoseconds at(Instant moment) const;

 private:
  struct Moment {
    Instant at;
    Nanoseconds used;
  };
  std::vector<Moment> moments_;
};

Nanoseconds CpuTrace::at(Instant moment) const {
  const auto after = std::ranges::lower_bound(moments_, moment, {}, &Moment::at);
  if (after == moments_.begin() || after == moments_.end())
    throw Broken("the lab was not watched during its load");
  const Moment& before = *std::prev(after);
  const double share = to_ms(moment - before.at) / to_ms(after->at - before.at);
  return before.used +
         Nanoseconds(std::llround(static_cast<double>((after->used - before.used).count()) * share));
}

/// The lab as a process, from its start to its end.
class WatchedLab {
 public:
  WatchedLab(const std::vector<std::string>& arguments, const std::filesystem::path& folder)
      : log_(folder / "log"), child_(start(arguments, folder)) {}

  /// Looks at it until it ends, which it has to do by itself.
  process::Exit watch();
  std::string log() const { return file::read(log_); }
  const CpuTrace& cpu() const { return cpu_; }
  double peak_mb() const { return static_cast<double>(peak_bytes_) / lab_mb; }

 private:
  process::Child start(const std::vector<std::string>& arguments, const std::filesystem::path& folder) const;
  void look();
  [[noreturn]] void end(const std::string& why);

  HeldSignals signals_;  ///< first, so that it goes last
  std::filesystem::path log_;
  process::Child child_;
  CpuTrace cpu_;
  std::uint64_t peak_bytes_ = 0;
};

process::Child WatchedLab::start(const std::vector<std::string>& arguments,
                                 const std::filesystem::path& folder) const {
  const Fd log(::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log) throw Error(ErrorCode::failed, "cannot write " + log_.string());
  process::SpawnOptions options;
  options.argv = {tare_path(), "gateway", "--output", folder / "run.json"};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.err = process::Stdio::descriptor(log.get());
  return process::spawn(options);
}

process::Exit WatchedLab::watch() {
  const SystemClock clock;
  const Instant deadline = clock.now() + lab_limit;
  for (;;) {
    look();
    std::array<pollfd, 2> fds{{{child_.pidfd(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}}};
    process::poll_until(fds, clock.now() + lab_look_every);
    if (fds[1].revents != 0) end("tare gateway was not waited for");
    if (fds[0].revents != 0) return *child_.wait(Instant::max());
    if (clock.now() > deadline) end("tare gateway takes too long");
  }
}

void WatchedLab::look() {
  if (const auto used = process_cpu(child_.pid())) cpu_.add(SystemClock().now(), *used);
  const std::string status = process::proc::read_file(fmt::format("/proc/{}/status", child_.pid())).text;
  peak_bytes_ = std::max(peak_bytes_, process::proc::kilobytes(status, "VmHWM").value_or(0));
}

/// Lets it stop what it has started; killed, it would leave that behind.
void WatchedLab::end(const std::string& why) {
  child_.signal(SIGTERM);
  child_.wait(SystemClock().now() + lab_leave_limit);
  throw Error(ErrorCode::failed, why, text::tail(log(), 3, 400));
}

void check_end(const process::Exit& exit, const std::string& log) {
  if (exit.ok()) return;
  const std::string tail = text::tail(log, 3, 400);
  if (exit.code == exit_usage) throw Error(ErrorCode::unavailable, "tare gateway did not begin", tail);
  throw Broken("tare gateway ended with " + process::describe(exit), tail);
}

}  // namespace

const report::Metric& GatewayBenchRun::metric(std::string_view row, std::string_view name) const {
  const report::Row* const found = report::find_row(document, row, document.targets.front().id);
  if (found != nullptr) {
    const auto metric = found->metrics.find(std::string(name));
    if (metric != found->metrics.end()) return metric->second;
  }
  throw Broken(fmt::format("the run has no {} of {}", name, row));
}

GatewayBenchRun run_gateway_bench(const std::vector<std::string>& arguments) {
  const file::TemporaryFolder folder;
  WatchedLab lab(arguments, folder.path());
  const process::Exit exit = lab.watch();
  check_end(exit, lab.log());
  GatewayBenchRun run{report::load(folder.path() / "run.json"), {}, lab.peak_mb()};
  const report::Document& document = run.document;
  if (!document.complete || !document.invariants.ok || !document.gateways || document.gateways->size() != 1)
    throw Broken("the run is not right", text::join(document.invariants.failures, "; "));
  for (const report::GatewayRun& one : document.gateways->front().runs) {
    const Instant begin{std::chrono::microseconds(one.load_window.start_monotonic_micros)};
    const Instant end{std::chrono::microseconds(one.load_window.end_monotonic_micros)};
    run.lab_core_percent.push_back(to_ms(lab.cpu().at(end) - lab.cpu().at(begin)) / to_ms(end - begin) * 100);
  }
  return run;
}

Measurement largest_share(const std::vector<LimitedFigure>& figures) {
  Measurement measurement;
  for (const LimitedFigure& one : figures) {
    const double share = one.limit.high ? one.figure / *one.limit.high : *one.limit.low / one.figure;
    measurement.measured = std::max(measurement.measured.value_or(0), share * 100);
    if (!measurement.note.empty()) measurement.note += "; ";
    measurement.note += fmt::format("{} {}{} ({} {})", one.name, text::significant(one.figure), one.unit,
                                    one.limit.high ? "≤" : "≥",
                                    text::significant(one.limit.high ? *one.limit.high : *one.limit.low));
    if (!one.note.empty()) measurement.note += ", " + one.note;
  }
  return measurement;
}

}  // namespace tare::benchmarks
