#include "simulation.hpp"

#include <algorithm>
#include <future>

#include "lab/measure/binomial.hpp"

namespace tare::benchmarks {
namespace {

namespace binomial = measure::binomial;

/// Where a function of a share that only grows passes 2.5 %.
double share_at(const std::function<double(double)>& growing) {
  double low = 0;
  double high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (growing(middle) > 0.025 ? high : low) = middle;
  }
  return (low + high) / 2;
}

verdict::Comparison compare(const verdict::Source& base, const verdict::Source& now) {
  verdict::CompareOptions options;
  options.tolerance = 0;
  return verdict::compare(base, now, options);
}

}  // namespace

std::size_t count_runs(std::size_t count, const std::function<bool(std::size_t)>& happens) {
  const auto every_second = [&](std::size_t first) {
    std::size_t hits = 0;
    for (std::size_t i = first; i < count; i += 2) hits += happens(i) ? 1 : 0;
    return hits;
  };
  std::future<std::size_t> odd = std::async(std::launch::async, every_second, 1);
  const std::size_t even = every_second(0);
  return even + odd.get();
}

measure::Interval share_interval(std::size_t hits, std::size_t n) {
  const double low = hits == 0 ? 0 : share_at([&](double p) { return binomial::upper_tail(hits, n, p); });
  const double high =
      hits == n ? 1 : 1 - share_at([&](double rest) { return binomial::upper_tail(n - hits, n, rest); });
  return {low, high};
}

bool sees_a_change(const verdict::Comparison& comparison) {
  return std::ranges::any_of(comparison.entries, [](const verdict::Entry& entry) {
    return entry.change == verdict::Change::better || entry.change == verdict::Change::worse;
  });
}

verdict::Comparison compare_documents(const report::Document& base, const report::Document& now) {
  return compare({"base", {}, &base}, {"new", {}, &now});
}

verdict::Comparison compare_lanes(const report::Document& document, const std::string& base,
                                  const std::string& now) {
  return compare({"run@" + base, base, &document}, {"run@" + now, now, &document});
}

}  // namespace tare::benchmarks
