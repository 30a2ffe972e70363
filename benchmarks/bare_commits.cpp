#include "bare_commits.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "lab/measure/summary.hpp"
#include "peer.hpp"

namespace tare::benchmarks {
namespace {

/// bare_commit in a folder of its own.
class BareCommits {
 public:
  /// Nanoseconds of so many transactions of so many rows.
  double ns(std::int64_t transactions, std::int64_t rows) {
    const std::string answer = peer_.ask(fmt::format("{} {}", transactions, rows));
    const auto ns = text::to_double(answer);
    if (!ns) throw Error(ErrorCode::failed, "bare_commit answered '" + text::one_line(answer) + "'");
    return *ns;
  }

 private:
  file::TemporaryFolder folder_{"tare-state"};
  Peer peer_{{helper("bare_commit").string(), (folder_.path() / "bare.sqlite").string()}};
};

}  // namespace

double bare_commit_ns(std::int64_t rows, Shape shape) {
  BareCommits bare;
  for (std::int64_t i = 0; i < shape.warmup; ++i) bare.ns(1, rows);
  std::vector<double> ns;
  for (std::int64_t i = 0; i < shape.samples; ++i) ns.push_back(bare.ns(1, rows));
  return measure::summarise(std::move(ns)).p50.value();
}

double bare_commit_rate() {
  constexpr std::int64_t warmup = 20;
  constexpr std::int64_t commits = 300;
  BareCommits bare;
  bare.ns(warmup, 1);
  return commits * 1e9 / bare.ns(commits, 1);
}

}  // namespace tare::benchmarks
