#include "lab/driver/protocol.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace tare::driver {
namespace {

/// More than any driver needs; what is beyond is a fault that must not slow the lab down.
constexpr double largest_size = 1e12;  ///< bytes
constexpr std::size_t most_rows = 1'000;
constexpr std::size_t most_counters = 64;
constexpr std::size_t most_lifecycles = 10'000;

/// Foreign text as it is kept and shown: one line, cut.
std::string short_text(std::string_view text) {
  constexpr std::size_t most = 500;
  return text::one_line(text.substr(0, most)) + (text.size() > most ? "…" : "");
}

/// "fanout_<n>" of "fanout_8"; nothing for a row that ends in no number above 0.
std::optional<std::string> any_size_of(std::string_view row) {
  const std::size_t end = row.rfind('_');
  if (end == std::string_view::npos) return std::nullopt;
  const auto n = text::to_int(row.substr(end + 1));
  if (!n || *n < 1) return std::nullopt;
  return std::string(row.substr(0, end + 1)) + "<n>";
}

/// As a driver writes it; what can be missing is optional, so that a message of ours can say so.
struct WireSample {
  std::optional<std::map<std::string, double>> ns;
  Outcome outcome = Outcome::ok;
  std::optional<std::string> error;
  std::optional<std::map<std::string, std::optional<std::int64_t>>> counters;
  std::optional<std::map<std::string, std::optional<double>>> bytes;
  std::optional<std::string> output;
  std::optional<Resources> resources;
  std::optional<std::vector<Lifecycle>> lifecycle;
};
BOOST_DESCRIBE_STRUCT(WireSample, (), (ns, outcome, error, counters, bytes, output, resources, lifecycle))

struct WireSamples {
  std::vector<WireSample> samples;
};
BOOST_DESCRIBE_STRUCT(WireSamples, (), (samples))

/// The first characters of a line, for an error message.
std::string excerpt(std::string_view line) {
  constexpr std::size_t limit = 60;
  return text::one_line(line.substr(0, limit)) + (line.size() > limit ? "…" : "");
}

/// "answer: samples[0].ns.total" and "missing", without the source.
std::string without_source(const Error& error) {
  std::string_view place = error.what();
  if (const std::size_t colon = place.find(": "); colon != std::string_view::npos)
    place.remove_prefix(colon + 2);
  return error.why().empty() ? std::string(place) : fmt::format("{}: {}", place, error.why());
}

std::string request(json::Object object) {
  return json::line(json::Value(std::move(object)));
}

[[noreturn]] void invalid_sample(std::string why) {
  throw Violation(FailureKind::invalid_sample, "sent an invalid sample", std::move(why));
}

void check_times(const Sample& sample, std::size_t index, const SampleRequest& request, Nanoseconds elapsed) {
  const auto place = [&](std::string_view metric) { return fmt::format("samples[{}].ns.{}", index, metric); };
  if (sample.outcome == Outcome::ok) {
    for (const std::string& metric : request.metrics) {
      if (!sample.metric(metric)) invalid_sample(place(metric) + ": missing");
    }
  }
  // Two clocks on one machine may be adjusted against each other by 500 ppm; this is generous.
  const double most = static_cast<double>(elapsed.count()) * 1.01 + 1e6;
  for (const auto& [metric, ns] : sample.ns) {
    if (!std::isfinite(ns)) invalid_sample(place(metric) + ": not a finite number");
    if (ns < 0) invalid_sample(fmt::format("{}: negative time {}", place(metric), ns));
    if (ns > most) {
      invalid_sample(fmt::format("{}: {} ms, but the whole request took {} ms", place(metric),
                                 text::significant(ns / 1e6), text::significant(to_ms(elapsed))));
    }
  }
}

void check_lifecycles(const Sample& sample, std::size_t index) {
  if (sample.lifecycle.size() > most_lifecycles)
    invalid_sample(fmt::format("samples[{}].lifecycle: {} processes", index, sample.lifecycle.size()));
  for (const Lifecycle& one : sample.lifecycle) {
    if (one.ns.size() > most_counters || one.waiters.size() > most_counters)
      invalid_sample(fmt::format("samples[{}].lifecycle: too many figures", index));
    for (const auto& [name, ns] : one.ns) {
      if (!std::isfinite(ns) || ns < 0)
        invalid_sample(fmt::format("samples[{}].lifecycle.ns.{}: no time", index, excerpt(name)));
    }
  }
}

void check_sizes(const Sample& sample, std::size_t index, const SampleRequest& request) {
  const auto place = [&](std::string_view metric) {
    return fmt::format("samples[{}].bytes.{}", index, metric);
  };
  if (sample.outcome == Outcome::ok) {
    for (const std::string& metric : request.sizes) {
      if (!sample.bytes.contains(metric)) invalid_sample(place(metric) + ": missing");
    }
  }
  for (const auto& [metric, size] : sample.bytes) {
    if (size && !(*size >= 0 && *size <= largest_size)) invalid_sample(place(metric) + ": no size in bytes");
  }
}

void check_counters(const Sample& sample, std::size_t index) {
  if (sample.counters.size() > most_counters) {
    invalid_sample(fmt::format("samples[{}].counters: more than {}", index, most_counters));
  }
  for (const auto& [name, value] : sample.counters) {
    const bool plain =
        !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        });
    if (!plain) invalid_sample(fmt::format("samples[{}].counters: bad name '{}'", index, excerpt(name)));
    if (value && *value < 0) {
      invalid_sample(fmt::format("samples[{}].counters.{}: negative count {}", index, name, *value));
    }
  }
}

}  // namespace

bool Hello::offers(std::string_view row) const {
  const auto has = [&](std::string_view name) {
    return std::find(rows.begin(), rows.end(), name) != rows.end();
  };
  const auto any_size = any_size_of(row);
  return has(row) || (any_size && has(*any_size));
}

std::string Hello::why_not(std::string_view row) const {
  if (unavailable) {
    if (const auto found = unavailable->find(std::string(row)); found != unavailable->end())
      return found->second;
    if (const auto any_size = any_size_of(row)) {
      if (const auto found = unavailable->find(*any_size); found != unavailable->end()) return found->second;
    }
  }
  return "the driver does not offer it";
}

std::optional<double> Sample::metric(std::string_view name) const {
  const auto found = ns.find(std::string(name));
  return found == ns.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> Sample::counter(std::string_view name) const {
  const auto found = counters.find(std::string(name));
  return found == counters.end() ? std::nullopt : found->second;
}

std::string hello_request(std::int64_t id) {
  return request({{"id", id}, {"op", "hello"}, {"protocol", protocol_name}});
}

std::string sample_request(std::int64_t id, const SampleRequest& sample) {
  json::Object params = sample.params;
  params["timeoutMs"] = std::chrono::ceil<std::chrono::milliseconds>(sample.timeout).count();
  return request({{"id", id},
                  {"op", "sample"},
                  {"row", sample.row},
                  {"params", std::move(params)},
                  {"iterations", sample.iterations}});
}

std::string stages_request(std::int64_t id) {
  return request({{"id", id}, {"op", "stages"}});
}

std::string bye_request(std::int64_t id) {
  return request({{"id", id}, {"op", "bye"}});
}

Reply parse_reply(std::string_view line) {
  const auto garbage = [&](const std::string& why) {
    return Violation(FailureKind::garbage, "wrote something that is no answer",
                     line.empty() ? why : fmt::format("{}: '{}'", why, excerpt(line)));
  };
  Reply reply;
  try {
    reply.body = json::parse(line, "answer");
  } catch (const Error& error) {
    throw garbage("not JSON, " + error.why());
  }
  const json::Object* object = reply.body.if_object();
  if (object == nullptr) throw garbage("JSON, but not an object");

  const json::Value* id = object->if_contains("id");
  if (id == nullptr) throw garbage("no id");
  if (!id->is_null()) {
    boost::json::error_code error;
    const auto number = id->is_number() ? id->to_number<std::int64_t>(error) : 0;
    if (!id->is_number() || error) throw garbage("the id is not a whole number");
    reply.id = number;
  }
  const json::Value* ok = object->if_contains("ok");
  if (ok == nullptr || !ok->is_bool()) throw garbage("no ok, or neither true nor false");
  reply.ok = ok->get_bool();
  if (!reply.ok) {
    const json::Value* error = object->if_contains("error");
    if (error == nullptr) throw garbage("not ok, and no error");
    try {
      reply.error = json::read<ErrorReply>(*error, "error");
      reply.error->message = short_text(reply.error->message);
    } catch (const Error& problem) {
      throw garbage("bad error, " + without_source(problem));
    }
  }
  return reply;
}

Hello parse_hello(const Reply& reply) {
  const auto bad = [](std::string why) {
    return Violation(FailureKind::bad_hello, "sent a bad answer to hello", std::move(why));
  };
  const auto mismatch = [](std::string why) {
    return Violation(FailureKind::protocol_mismatch, fmt::format("does not speak {}", protocol_name),
                     std::move(why));
  };
  if (!reply.ok) {
    if (reply.error->code == "unsupported") throw mismatch(reply.error->message);
    throw bad(fmt::format("{}: {}", reply.error->code, reply.error->message));
  }
  // The protocol first: another one may well have other fields.
  if (const json::Value* protocol = reply.body.get_object().if_contains("protocol")) {
    if (!protocol->is_string()) throw bad("protocol: not a string");
    if (const std::string_view name = protocol->get_string(); name != protocol_name) {
      throw mismatch(fmt::format("it speaks '{}'", excerpt(name)));
    }
  }
  Hello hello;
  try {
    hello = json::read<Hello>(reply.body, "hello");
  } catch (const Error& error) {
    throw bad(without_source(error));
  }
  if (hello.name.empty()) throw bad("name: empty");
  if (hello.pid <= 0) throw bad(fmt::format("pid: {} is no process", hello.pid));
  if (hello.rows.size() > most_rows) throw bad(fmt::format("rows: more than {}", most_rows));
  for (auto row = hello.rows.begin(); row != hello.rows.end(); ++row) {
    if (row->empty()) throw bad("rows: an empty name");
    if (std::find(hello.rows.begin(), row, *row) != row)
      throw bad(fmt::format("rows: '{}' twice", excerpt(*row)));
  }
  return hello;
}

std::vector<Sample> parse_samples(const Reply& reply, const SampleRequest& request, Nanoseconds elapsed) {
  WireSamples wire;
  try {
    wire = json::read<WireSamples>(reply.body, "answer");
  } catch (const Error& error) {
    invalid_sample(without_source(error));
  }
  if (static_cast<std::int64_t>(wire.samples.size()) != request.iterations) {
    invalid_sample(fmt::format("{} samples instead of {}", wire.samples.size(), request.iterations));
  }
  std::vector<Sample> samples;
  samples.reserve(wire.samples.size());
  for (WireSample& from : wire.samples) {
    Sample sample;
    sample.outcome = from.outcome;
    if (from.ns) sample.ns = std::move(*from.ns);
    if (from.counters) sample.counters = std::move(*from.counters);
    if (from.outcome != Outcome::ok) sample.error = short_text(from.error.value_or("no reason given"));
    check_counters(sample, samples.size());
    sample.output = std::move(from.output);
    sample.resources = from.resources;
    if (from.lifecycle) sample.lifecycle = std::move(*from.lifecycle);
    check_lifecycles(sample, samples.size());
    check_times(sample, samples.size(), request, elapsed);
    if (from.bytes) sample.bytes = std::move(*from.bytes);
    check_sizes(sample, samples.size(), request);
    samples.push_back(std::move(sample));
  }
  return samples;
}

Stages parse_stages(const Reply& reply) {
  Stages stages;
  try {
    stages = json::read<Stages>(reply.body, "answer");
  } catch (const Error& error) {
    throw Violation(FailureKind::invalid_sample, "sent invalid stages", without_source(error));
  }
  for (const auto& [name, stage] : stages.stages) {
    if (!(stage.total_us >= 0) || !(stage.max_us >= 0)) {
      throw Violation(FailureKind::invalid_sample, "sent invalid stages",
                      fmt::format("stages.{}: no time", excerpt(name)));
    }
  }
  return stages;
}

Violation error_of(const Reply& reply) {
  const ErrorReply& error = *reply.error;
  if (error.code == "unsupported") {
    return Violation(FailureKind::unsupported, "does not support the request", error.message);
  }
  if (error.code == "invalid")
    return Violation(FailureKind::invalid, "finds the request invalid", error.message);
  if (error.code == "timeout") return Violation(FailureKind::timeout, "took too long", error.message);
  const std::string code = error.code == "failed" ? std::string() : excerpt(error.code) + ": ";
  return Violation(FailureKind::failed, "failed", code + error.message);
}

}  // namespace tare::driver
