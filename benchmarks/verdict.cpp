#include <utility>

#include "base/text.hpp"
#include "benchmark.hpp"

namespace tare::benchmarks {
namespace {

enum class Position { inside, outside, across };

Position position_of(const measure::Interval& interval, const Limit& limit) {
  const auto [low, high] = interval;
  if ((limit.low && high < *limit.low) || (limit.high && low > *limit.high)) return Position::outside;
  if ((limit.low && low < *limit.low) || (limit.high && high > *limit.high)) return Position::across;
  return Position::inside;
}

json::Value value_of(const Limit& limit) {
  const auto end = [](const std::optional<double>& value) {
    return value ? json::Value(*value) : json::Value(nullptr);
  };
  if (!limit.low) return end(limit.high);
  return json::Array{end(limit.low), end(limit.high)};
}

struct Judgement {
  Verdict verdict = Verdict::unmeasured;
  std::string reason;
};

bool suffers_from_load(Judged judged) {
  return judged == Judged::time || judged == Judged::rate;
}

Judgement judge_figure(const Bar& bar, const Limit& limit, const Measurement& measurement,
                       const measure::Noise& noise) {
  const auto& figure = bar.judged == Judged::ratio ? measurement.ratio : measurement.measured;
  if (measurement.broken) return {Verdict::fail, *measurement.broken};
  if (!figure) return {Verdict::unmeasured, measurement.note.empty() ? "no figure came out" : ""};
  if (bar.judged == Judged::ratio && !measurement.interval)
    return {Verdict::inconclusive, "too few samples for an interval"};
  const measure::Interval interval = measurement.interval.value_or(measure::Interval{*figure, *figure});
  const Position position = position_of(interval, limit);
  if (position == Position::inside) return {Verdict::pass, ""};
  if (measurement.floor && limit.high && *measurement.floor > *limit.high)
    return {Verdict::inconclusive, "this machine is too slow for the limit"};
  if (suffers_from_load(bar.judged) && noise.level == measure::NoiseLevel::busy)
    return {Verdict::inconclusive, "the machine was busy: " + text::join(noise.reasons, ", ")};
  if (position == Position::outside) return {Verdict::fail, "the limit is passed"};
  return {Verdict::inconclusive, "the interval holds the limit"};
}

}  // namespace

Result judge(const Bar& bar, const Measurement& measurement, const measure::Noise& noise) {
  const Limit limit = measurement.limit.value_or(bar.limit);
  Judgement judgement = judge_figure(bar, limit, measurement, noise);
  Result result{bar.id,
                bar.quantity,
                bar.unit,
                measurement.measured,
                measurement.interval,
                measurement.against,
                value_of(limit),
                measurement.ratio,
                judgement.verdict,
                std::move(judgement.reason),
                bar.judged};
  if (!measurement.note.empty())
    result.reason += result.reason.empty() ? measurement.note : "; " + measurement.note;
  return result;
}

}  // namespace tare::benchmarks
