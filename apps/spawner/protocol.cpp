#include "spawner/protocol.hpp"

#include <cerrno>
#include <map>
#include <vector>

#include <unistd.h>

#include "base/json.hpp"

namespace tare::spawner {
namespace {

constexpr std::string_view protocol = "tare.driver.v1";
constexpr std::size_t line_limit = std::size_t{16} << 20;
constexpr int max_iterations = 100'000;

struct Request {
  std::int64_t id = 0;
  std::string op;
  std::optional<std::string> protocol;
  std::optional<std::string> row;
  std::optional<Params> params;
  std::optional<int> iterations;
};
BOOST_DESCRIBE_STRUCT(Request, (), (id, op, protocol, row, params, iterations))

struct Failure {
  std::string code;
  std::string message;
};
BOOST_DESCRIBE_STRUCT(Failure, (), (code, message))

struct FailureAnswer {
  std::optional<std::int64_t> id;
  bool ok = false;
  Failure error;
};
BOOST_DESCRIBE_STRUCT(FailureAnswer, (), (id, ok, error))

struct HelloAnswer {
  std::int64_t id = 0;
  bool ok = true;
  std::string protocol;
  std::string name;
  std::string version;
  std::string engine;
  std::int64_t pid = 0;
  std::vector<std::string> rows;
  std::map<std::string, std::string> unavailable;
  bool asynchronous_spawn = false;
  std::optional<std::uint64_t> rss_floor_bytes;
};
BOOST_DESCRIBE_STRUCT(HelloAnswer, (),
                      (id, ok, protocol, name, version, engine, pid, rows, unavailable, asynchronous_spawn,
                       rss_floor_bytes))

struct SampleAnswer {
  std::int64_t id = 0;
  bool ok = true;
  std::vector<Sample> samples;
};
BOOST_DESCRIBE_STRUCT(SampleAnswer, (), (id, ok, samples))

struct ByeAnswer {
  std::int64_t id = 0;
  bool ok = true;
};
BOOST_DESCRIBE_STRUCT(ByeAnswer, (), (id, ok))

std::string refuse(std::optional<std::int64_t> id, std::string code, std::string message) {
  return json::line(FailureAnswer{id, false, {std::move(code), std::move(message)}});
}

std::string message_of(const Error& error) {
  return error.why().empty() ? error.what() : std::string(error.what()) + ": " + error.why();
}

std::string hello(const Lane& lane, const Request& request) {
  if (request.protocol != protocol)
    throw Refusal{"unsupported", "this driver speaks " + std::string(protocol)};
  HelloAnswer answer;
  answer.id = request.id;
  answer.protocol = protocol;
  answer.name = lane.name();
  answer.version = TARE_VERSION;
  answer.engine = "none";
  answer.pid = ::getpid();
  answer.rows = lane.rows();
  answer.unavailable = lane.unavailable();
  answer.rss_floor_bytes = own_peak_rss_bytes();
  return json::line(answer);
}

std::string sample(const Lane& lane, const Request& request) {
  if (!request.row) throw Refusal{"invalid", "row is missing"};
  const int iterations = request.iterations.value_or(1);
  if (iterations < 1 || iterations > max_iterations) {
    throw Refusal{"invalid", "iterations must be 1 to " + std::to_string(max_iterations)};
  }
  const Params params = request.params.value_or(Params{});
  SampleAnswer answer;
  answer.id = request.id;
  std::size_t output = 0;
  for (int i = 0; i < iterations; ++i) {
    answer.samples.push_back(lane.sample(*request.row, params));
    output += answer.samples.back().output.value_or("").size();
    if (output > line_limit)
      throw Refusal{"invalid", "the outputs do not fit a line; ask for fewer iterations"};
  }
  std::string line = json::line(answer);
  if (line.size() > line_limit) throw Refusal{"failed", "the answer does not fit a line of 16 MiB"};
  return line;
}

/// The id of what may be a broken request, so that its answer can name it.
std::optional<std::int64_t> id_of(const json::Value& value) {
  const json::Object* object = value.if_object();
  const json::Value* id = object != nullptr ? object->if_contains("id") : nullptr;
  return id != nullptr && id->is_int64() ? std::optional(id->get_int64()) : std::nullopt;
}

bool write_line(std::string line) {
  line += '\n';
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t n = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// The lines of stdin. A line over the limit is dropped as it comes and reported as such.
class Input {
 public:
  struct Line {
    std::string text;
    bool too_long = false;
  };

  /// Nothing at the end.
  std::optional<Line> next() {
    bool too_long = false;
    for (;;) {
      if (const std::size_t end = buffer_.find('\n', searched_); end != std::string::npos) {
        Line line{buffer_.substr(0, end), too_long || end > line_limit};
        buffer_.erase(0, end + 1);
        searched_ = 0;
        return line;
      }
      too_long = too_long || buffer_.size() > line_limit;
      if (too_long) buffer_.clear();
      searched_ = buffer_.size();
      char piece[16384];
      const ssize_t n = ::read(STDIN_FILENO, piece, sizeof piece);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return std::nullopt;
      buffer_.append(piece, static_cast<std::size_t>(n));
    }
  }

 private:
  std::string buffer_;
  std::size_t searched_ = 0;
};

}  // namespace

Answer answer(const Lane& lane, std::string_view text) {
  std::optional<std::int64_t> id;
  try {
    const json::Value value = json::parse(text, "request");
    id = id_of(value);
    const auto request = json::read<Request>(value, "request");
    if (request.op == "hello") return {hello(lane, request), false};
    if (request.op == "sample") return {sample(lane, request), false};
    if (request.op == "bye") return {json::line(ByeAnswer{request.id}), true};
    throw Refusal{"unsupported", "no op '" + request.op + "'"};
  } catch (const Refusal& refusal) {
    return {refuse(id, refusal.code, refusal.message), false};
  } catch (const Error& error) {
    return {refuse(id, error.code() == ErrorCode::input ? "invalid" : "failed", message_of(error)), false};
  }
}

int serve(const Lane& lane) try {
  Input input;
  while (const std::optional<Input::Line> line = input.next()) {
    if (!line->too_long && line->text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Answer reply = line->too_long
                             ? Answer{refuse(std::nullopt, "invalid", "a line is longer than 16 MiB"), false}
                             : answer(lane, line->text);
    if (!write_line(reply.line) || reply.leave) break;
  }
  return 0;
} catch (const LabVanished&) {
  return 1;
}

}  // namespace tare::spawner
