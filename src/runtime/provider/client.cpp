#include "runtime/provider/client.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "net/sse.hpp"
#include "runtime/provider/deadline.hpp"
#include "runtime/provider/dig.hpp"
#include "runtime/provider/event_reader.hpp"

namespace tare::provider {
namespace {

namespace asio = boost::asio;
using asio::awaitable;

/// An error of the network as one of this folder.
Failure network_failure(const Error& error, const std::string& server) {
  const std::string why = error.why().empty() ? error.what() : error.why();
  switch (error.code()) {
    case ErrorCode::unavailable:
      return Failure(FailureKind::unreachable, fmt::format("cannot reach the model server at {}", server),
                     why);
    case ErrorCode::timeout:
      return Failure(FailureKind::timeout, fmt::format("the model server at {} took too long", server), why);
    default:
      return Failure(FailureKind::cut, fmt::format("the connection to the model server at {} broke", server),
                     why);
  }
}

Failure too_late(const std::string& server, std::string_view what, std::chrono::milliseconds limit) {
  return Failure(FailureKind::timeout, fmt::format("the model server at {} took too long", server),
                 fmt::format("{} within {} s", what, static_cast<double>(limit.count()) / 1000));
}

FailureKind kind_of_status(int status) {
  if (status == 429) return FailureKind::rate_limited;
  if (status == 401 || status == 403) return FailureKind::unauthorized;
  // 408 and 409 are those that such servers use for "try again".
  return status >= 500 || status == 408 || status == 409 ? FailureKind::overloaded : FailureKind::rejected;
}

/// The server's own words, if its answer is JSON as it should be; else the start of it.
std::string words_of_refusal(std::string_view body) {
  constexpr std::size_t longest = 200;
  try {
    const json::Value value = json::parse(body, "");
    if (const json::Object* error = object_in(value.if_object(), "error")) return error_text(error);
    if (const auto text = text_in(value.if_object(), "error"))
      return text::one_line(text->substr(0, longest));
  } catch (const Error&) {  // a proxy's page, for example
  }
  return text::one_line(text::trim(body.substr(0, longest)));
}

}  // namespace

/// A reply whose headers are there.
class Client::Reply final : public ReplyStream {
 public:
  Reply(const Client& client, std::unique_ptr<Turns::Turn> turn, std::unique_ptr<net::BodyStream> body,
        Instant deadline)
      : turn_(std::move(turn)),
        body_(std::move(body)),
        reader_(event_reader(client.options_.dialect)),
        parser_(client.options_.reply_bytes),
        clock_(client.clock_),
        server_(client.server_),
        deadline_(deadline),
        silence_(client.options_.silence),
        whole_(client.options_.whole),
        limit_(client.options_.reply_bytes) {}

  /// Reads until the first events are there, which `next` then gives.
  awaitable<void> start() { first_ = co_await fetch(); }

  awaitable<Events> next() override {
    if (!first_.empty()) co_return std::exchange(first_, {});
    co_return co_await fetch();
  }

  std::size_t bytes() const { return bytes_; }

 private:
  awaitable<Events> fetch() {
    if (failure_) throw *std::exchange(failure_, {});
    while (!reader_->done()) {
      const std::string_view bytes = co_await read();
      take(bytes);
      Events events = reader_->take();
      // What came before a fault in the same read is not lost.
      if (!events.empty()) co_return events;
      if (failure_) throw *std::exchange(failure_, {});
    }
    co_await drain();
    co_return Events{};
  }

  awaitable<std::string_view> read() {
    const Instant now = clock_.now();
    const bool silence_first = now + silence_ < deadline_;
    const auto late = [this, silence_first] {
      return silence_first ? too_late(server_, "nothing came", silence_)
                           : too_late(server_, "the reply was not whole", whole_);
    };
    try {
      co_return co_await body_->read_by(std::min<Instant>(now + silence_, deadline_));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::timeout) throw late();
      throw network_failure(error, server_);
    }
  }

  void take(std::string_view bytes) {
    bytes_ += bytes.size();
    try {
      if (bytes.empty()) return reader_->end();
      if (bytes_ > limit_)
        throw Failure(FailureKind::too_large,
                      fmt::format("the reply is larger than {}", text::bytes(limit_)));
      parser_.feed(bytes, [this](const net::ServerEvent& event) { reader_->feed(event.data); });
    } catch (const Failure& failure) {
      failure_ = failure;
    } catch (const Error& error) {
      failure_.emplace(FailureKind::too_large, "an event of the reply is too large", error.what());
    }
  }

  /// The few bytes behind the last event, so that the connection can carry the next request. A server that
  /// does not come to its end loses it.
  awaitable<void> drain() {
    if (!body_) co_return;
    constexpr std::chrono::seconds patience(1);
    const Instant deadline = clock_.now() + patience;
    try {
      std::string_view bytes;
      do bytes = co_await body_->read_by(deadline);
      while (!bytes.empty());
    } catch (const Error&) {  // the reply itself is whole
    }
    body_.reset();
    turn_.reset();
  }

  std::unique_ptr<Turns::Turn> turn_;  ///< outlives the body: a connection is free before its turn is
  std::unique_ptr<net::BodyStream> body_;
  std::unique_ptr<EventReader> reader_;
  net::SseParser parser_;
  const Clock& clock_;
  std::string server_;
  Instant deadline_;
  std::chrono::milliseconds silence_;
  std::chrono::milliseconds whole_;
  std::size_t limit_;
  std::size_t bytes_ = 0;
  Events first_;
  std::optional<Failure> failure_;
};

Client::Client(asio::io_context& io, ClientOptions options, const Clock& clock, Random random)
    : options_(std::move(options)),
      url_(net::parse_url(options_.url, "--provider-url")),
      server_(fmt::format("{}://{}:{}", url_.scheme, url_.host, url_.port)),
      clock_(clock),
      random_(std::move(random)),
      http_(io, url_,
            {.body_bytes = options_.reply_bytes,
             .connect_time = options_.connect_time,
             // The times of this folder are shorter, and say what was late.
             .silence = options_.whole + std::chrono::seconds(1),
             .connections = options_.connections}),
      turns_(options_.connections) {}

awaitable<std::unique_ptr<ReplyStream>> Client::open(const ModelRequest& request) {
  const std::string body = request_body(options_.dialect, request);
  std::unique_ptr<Turns::Turn> turn = co_await turns_.take();
  const Instant deadline = clock_.now() + options_.whole;
  for (unsigned failed = 1;; ++failed) {
    std::unique_ptr<Reply> reply;
    std::optional<Failure> failure;
    try {
      reply = co_await attempt(std::move(turn), body, deadline);
      co_await reply->start();
      co_return reply;
    } catch (const Failure& error) {
      failure = error;
    }
    if (reply && reply->bytes() > 0) throw *failure;
    const auto wait = next_attempt(options_.retry, *failure, failed, random_());
    if (!wait || clock_.now() + *wait >= deadline) throw *failure;
    asio::steady_timer timer(co_await asio::this_coro::executor, *wait);
    co_await timer.async_wait(asio::use_awaitable);
    turn = co_await turns_.take();
  }
}

awaitable<std::unique_ptr<Client::Reply>> Client::attempt(std::unique_ptr<Turns::Turn> turn,
                                                          const std::string& body, Instant deadline) {
  const Instant now = clock_.now();
  const Instant first_byte = std::min<Instant>(now + options_.first_byte, deadline);
  const auto late = [this, limit = std::chrono::ceil<std::chrono::milliseconds>(first_byte - now)] {
    return too_late(server_, "no answer", limit);
  };
  std::unique_ptr<net::BodyStream> answer;
  try {
    answer = co_await within(http_.stream(http_request(body)), first_byte, late);
  } catch (const Failure&) {
    throw;
  } catch (const Error& error) {
    throw network_failure(error, server_);
  }
  if (answer->status() != 200) co_await refuse(*answer, first_byte);
  const std::string_view type = net::find(answer->headers(), "content-type").value_or("text/event-stream");
  if (type.find("text/event-stream") == std::string_view::npos) {
    throw Failure(FailureKind::garbage, fmt::format("{} is not a model server", server_),
                  fmt::format("it answers with {}", text::one_line(type.substr(0, 100))),
                  "the URL of the provider ends with the version, as http://127.0.0.1:11434/v1")
        .with_status(200);
  }
  co_return std::make_unique<Reply>(*this, std::move(turn), std::move(answer), deadline);
}

awaitable<void> Client::refuse(net::BodyStream& answer, Instant deadline) {
  constexpr std::size_t most = 64 * 1024;
  const auto late = [] { return Failure(FailureKind::timeout, "the answer does not end"); };
  std::string body;
  try {
    while (body.size() < most) {
      const std::string_view bytes = co_await within(answer.read(), deadline, late);
      if (bytes.empty()) break;
      body += bytes;
    }
  } catch (const Error&) {  // the status says enough
  }
  const FailureKind kind = kind_of_status(answer.status());
  throw Failure(kind, fmt::format("the model server at {} answered {}", server_, answer.status()),
                words_of_refusal(body), kind == FailureKind::unauthorized ? "check the API key" : "")
      .with_status(answer.status())
      .with_retry_after(retry_after(answer.headers(), clock_.wall()));
}

net::Request Client::http_request(const std::string& body) const {
  const std::string_view root = url_.path.ends_with('/')
                                    ? std::string_view(url_.path).substr(0, url_.path.size() - 1)
                                    : std::string_view(url_.path);
  net::Request request{"POST",
                       fmt::format("{}{}", root, path_of(options_.dialect)),
                       {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}},
                       body};
  if (!options_.api_key.empty()) request.headers.push_back({"Authorization", "Bearer " + options_.api_key});
  return request;
}

}  // namespace tare::provider
