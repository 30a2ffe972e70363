#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bare_commits.hpp"
#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "lab/driver/agents.hpp"
#include "lab/measure/summary.hpp"
#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

constexpr double wanted_rate = 20'000;
/// Half of what a disk would take if each of its commits held all that is in flight.
constexpr double share_of_disk = 0.5 * driver::crash_in_flight;

/// A FIFO that a thread reads until it is told to stop. Open for both sides, so that neither waits for the
/// other to open it, and the word to stop comes after all that was written before.
class Fifo {
 public:
  explicit Fifo(const std::filesystem::path& folder) : path_(folder / "acks") {
    if (::mkfifo(path_.c_str(), 0600) == 0) fd_ = Fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd_) throw Error(ErrorCode::failed, "cannot make the FIFO " + path_.string(), errno_text(errno));
    thread_ = std::thread([this] { drain(); });
  }
  ~Fifo() { stop(); }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// The whole lines that were written. Nothing is read any more.
  std::vector<std::string> finish() {
    stop();
    std::vector<std::string> lines = text::split(text_, '\n');
    lines.pop_back();
    return lines;
  }

 private:
  static constexpr char stop_sign = '\0';

  void drain() {
    std::array<char, 16 << 10> buffer;
    while (true) {
      const ssize_t n = ::read(fd_.get(), buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return;
      const std::string_view read(buffer.data(), static_cast<std::size_t>(n));
      text_ += read.substr(0, read.find(stop_sign));
      if (read.find(stop_sign) != std::string_view::npos) return;
    }
  }

  void stop() {
    if (!thread_.joinable()) return;
    while (::write(fd_.get(), &stop_sign, 1) < 0 && errno == EINTR) {
    }
    thread_.join();
  }

  std::filesystem::path path_;
  Fd fd_;
  std::string text_;
  std::thread thread_;
};

/// Registrations a second of one request. Everything that was acknowledged must be there afterwards, for
/// another process.
double register_all(Registry& registry, Worker& worker, const driver::Workload& workload) {
  const file::TemporaryFolder state("tare-state");
  const file::TemporaryFolder folder("tare-acks");
  Fifo acks(folder.path());
  const std::uint64_t nonce = registry.nonce();
  const json::Object asked = driver::register_params(workload, nonce, state.path(), acks.path());
  const driver::Sample sample = worker.ask(workload, asked, 1).front();
  const std::vector<std::string> acknowledged = acks.finish();
  if (acknowledged.size() != static_cast<std::size_t>(workload.size))
    throw Broken(fmt::format("{} of {} registrations were acknowledged", acknowledged.size(), workload.size));

  Worker after(registry.command());
  const driver::Sample found =
      after.ask(workload, driver::recover_params(workload, nonce, state.path()), 1).front();
  for (const driver::Judgement& judgement : driver::judge_crash(asked, acknowledged, found)) {
    if (!judgement.ok) throw Broken(fmt::format("{}: {}", workload.row, describe(judgement)));
  }
  after.leave();
  return static_cast<double>(workload.size) * 1e9 / sample.metric("total").value();
}

double registrations_per_second(Registry& registry, const driver::Workload& workload) {
  Worker worker(registry.command());
  register_all(registry, worker, workload);  // warms it up
  const double rate = register_all(registry, worker, workload);
  worker.leave();
  return rate;
}

Measurement measure_rate() {
  const driver::Workload workload = workload_of("durableCrash_10000");
  Registry embedded("embedded");
  auto figures = interleave({[&] { return registrations_per_second(embedded, workload); }, bare_commit_rate},
                            {.fewest = 6, .most = 12, .limit = std::chrono::seconds(18)});
  Measurement measurement = alone(std::move(figures[0]));
  const double commits = measure::summarise(std::move(figures[1])).p50.value();
  measurement.against = share_of_disk * commits;
  measurement.limit = Limit{std::min(wanted_rate, share_of_disk * commits), {}};
  measurement.note += fmt::format("; the disk takes {} bare commits a second",
                                  text::count(static_cast<std::uint64_t>(commits)));
  return measurement;
}

}  // namespace

Benchmark agents_durable_rate() {
  return {{"agents.durable_rate",
           "durable registrations a second, 64 in flight, against half of 64 times the disk's bare commits",
           "/s",
           Judged::rate,
           {wanted_rate, {}}},
          measure_rate};
}

}  // namespace tare::benchmarks
