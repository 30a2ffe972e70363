#include "serve/serve.hpp"

#include <cerrno>
#include <exception>

#include <unistd.h>

#include "base/error.hpp"

namespace tare::serve {
namespace {

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

struct Request {
  std::int64_t id = 0;
  std::string op;
};
BOOST_DESCRIBE_STRUCT(Request, (), (id, op))

struct Hello {
  std::optional<std::string> protocol;
};
BOOST_DESCRIBE_STRUCT(Hello, (), (protocol))

std::string refuse(std::optional<std::int64_t> id, std::string code, std::string message) {
  return json::line(FailureAnswer{id, false, {std::move(code), std::move(message)}});
}

/// {"id":7,"ok":true and the members of `body`, the text of an object.
std::string accept(std::int64_t id, std::string_view body) {
  std::string line = "{\"id\":" + std::to_string(id) + ",\"ok\":true";
  if (body != "{}") line += ',';
  line += body.substr(1);
  return line;
}

/// The id of what may be a broken request, so that its answer can name it.
std::optional<std::int64_t> id_of(const json::Value& value) {
  const json::Object* object = value.if_object();
  const json::Value* id = object != nullptr ? object->if_contains("id") : nullptr;
  return id != nullptr && id->is_int64() ? std::optional(id->get_int64()) : std::nullopt;
}

std::string message_of(const Error& error) {
  return error.why().empty() ? error.what() : std::string(error.what()) + ": " + error.why();
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

void check_protocol(const json::Value& hello) {
  if (json::read<Hello>(hello, "request").protocol != protocol)
    throw Refusal{"unsupported", "this driver speaks " + std::string(protocol)};
}

Answer answer(const Handlers& handlers, std::string_view text) {
  std::optional<std::int64_t> id;
  try {
    const json::Value value = json::parse(text, "request");
    id = id_of(value);
    const auto request = json::read<Request>(value, "request");
    if (request.op == "bye") return {accept(request.id, "{}"), true};
    const auto handler = handlers.find(request.op);
    if (handler == handlers.end()) throw Refusal{"unsupported", "no op '" + request.op + "'"};
    std::string line = accept(request.id, handler->second(value));
    if (line.size() > line_limit) throw Refusal{"failed", "the answer does not fit a line of 16 MiB"};
    return {std::move(line), false};
  } catch (const Refusal& refusal) {
    return {refuse(id, refusal.code, refusal.message), false};
  } catch (const Error& error) {
    return {refuse(id, error.code() == ErrorCode::input ? "invalid" : "failed", message_of(error)), false};
  } catch (const std::exception& error) {
    // Of the file system, of memory: one request went wrong, and the next one may not.
    return {refuse(id, "failed", error.what()), false};
  }
}

void serve(const Handlers& handlers) {
  Input input;
  while (const std::optional<Input::Line> line = input.next()) {
    if (!line->too_long && line->text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Answer reply = line->too_long
                             ? Answer{refuse(std::nullopt, "invalid", "a line is longer than 16 MiB"), false}
                             : answer(handlers, line->text);
    if (!write_line(reply.line) || reply.leave) return;
  }
}

}  // namespace tare::serve
