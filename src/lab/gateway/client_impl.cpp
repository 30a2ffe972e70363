#include "lab/gateway/client_impl.hpp"

#include <charconv>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/gateway/handshake.hpp"

namespace tare::lab_gateway {
namespace asio = boost::asio;
namespace {

using namespace std::chrono_literals;

constexpr auto retry_after = 200ms;
/// Between two looks at which requests are overdue: so much later than its time one may be given up.
constexpr auto sweep_every = 5ms;
constexpr std::size_t most_error_bytes = 500;

Instant now() {
  return std::chrono::steady_clock::now();
}

std::string cut(std::string_view text) {
  return std::string(text::cut(text, most_error_bytes));
}

std::string refusal_text(std::string_view method, std::string_view error) {
  const auto message = text_of(member(error, "message"));
  return cut(fmt::format("{} failed: {}", method, message ? std::string_view(*message) : error));
}

std::string why_of(const net::Closed& closed) {
  const auto code = static_cast<unsigned>(closed.close_code());
  return closed.reason().empty() ? fmt::format("closed with {}", code)
                                 : fmt::format("closed with {}: {}", code, closed.reason());
}

}  // namespace

Client::Impl::Impl(asio::io_context& io)
    : io_(io), sweeping_(net::Loop::of(io), [this] {
        const auto keep = shared_from_this();
        sweep();
      }) {}

asio::awaitable<std::shared_ptr<Client::Impl>> Client::Impl::dial(asio::io_context& io, Address address,
                                                                  std::chrono::milliseconds limit) {
  const Instant until = now() + limit;
  for (;;) {
    const auto impl = std::make_shared<Impl>(io);
    const std::optional<Error> starting = co_await impl->connect(address, until);
    if (!starting) co_return impl;
    if (now() + retry_after > until) throw Error(ErrorCode::timeout, starting->what(), starting->why());
    asio::steady_timer pause(io, retry_after);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<std::optional<Error>> Client::Impl::connect(Address address, Instant until) {
  const std::string place = net::authority(address.url);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now());
  const net::Headers no_headers;
  const net::WebSocketLimits limits;
  socket_.emplace(co_await net::connect_websocket(io_, address.url, no_headers, limits, left));
  bool late = false;
  net::Deadline deadline(net::Loop::of(io_), [&] {
    late = true;
    hang_up();
  });
  deadline.at(until);
  try {
    co_return co_await shake_hands(address);
  } catch (const net::Closed& closed) {
    if (late) {
      throw Error(ErrorCode::timeout, place + " did not say hello within the time limit",
                  fmt::format("{} ms", left.count()));
    }
    throw Error(ErrorCode::failed, "the gateway at " + place + " ended the handshake", why_of(closed));
  }
}

asio::awaitable<std::optional<Error>> Client::Impl::shake_hands(Address address) {
  send(0, "connect", connect_params(address));
  for (;;) {
    const net::Message message = co_await socket_->read();
    const auto frame = read_frame(message.data);
    if (!frame || message.kind != net::MessageKind::text) {
      throw Error(ErrorCode::failed, net::authority(address.url) + " is no gateway",
                  "it says " + text::one_line(text::cut(message.data, 200)));
    }
    if (frame->kind == FrameKind::event) {
      take_event(*frame);
    } else if (++traffic_.responses; frame->id != "0") {
      ++traffic_.unasked_responses;
    } else if (frame->ok) {
      check_hello(frame->body, address);
      hello_ = frame->body;
      co_return std::nullopt;
    } else {
      Refusal refusal = refusal_of(frame->body, address);
      if (refusal.remedy == Refusal::Remedy::none) throw Error(refusal.error);
      co_return std::move(refusal.error);
    }
  }
}

asio::awaitable<void> Client::Impl::read_all() {
  const auto keep = shared_from_this();
  std::string why;
  try {
    while (socket_) {
      std::optional<net::Message> message = co_await socket_->read();
      read_ = now();
      while (message) {
        take(*message);
        if (!socket_) co_return;
        message = socket_->next();
      }
    }
  } catch (const net::Closed& closed) {
    why = why_of(closed);
  }
  if (state_ != State::open) co_return;
  state_ = State::ended;
  hang_up();
  give_up_all(load::Outcome::failed, "the connection was lost (" + why + ")");
  if (const auto lost = std::exchange(lost_, nullptr)) lost(why);
}

void Client::Impl::ask(std::string_view method, std::string_view params, std::chrono::milliseconds limit,
                       Answered answered, Answers answers) {
  if (state_ != State::open) {
    // Not within the call: who asks again at each failure would never come back.
    asio::post(io_,
               [answered = std::move(answered), error = cut(fmt::format("{} failed: not connected", method)),
                moment = now()] { answered({load::Outcome::failed, {}, {}, error, moment, now()}); });
    return;
  }
  OpenRequest& request = requests_.add();
  request.answers = answers;
  request.method = method;
  request.sent = now();
  request.until = request.sent + limit;
  request.answered = std::move(answered);
  requests_.count(+1);
  if (request.until < next_sweep_) sweep_by(request.until);
  send(request.id, method, params);
}

void Client::Impl::send(std::uint64_t id, std::string_view method, std::string_view params) {
  std::array<char, 20> digits;
  const auto [end, failure] = std::to_chars(digits.begin(), digits.end(), id);
  out_.own.assign(R"({"type":"req","id":")").append(digits.begin(), end);
  out_.own.append(R"(","method":")").append(method).append(R"(","params":)").append(params).append("}");
  // One that is too slow to read loses its connection here, which the coroutine that reads finds out.
  socket_->send(out_);
}

void Client::Impl::take(const net::Message& message) {
  const auto frame = message.kind == net::MessageKind::text ? read_frame(message.data) : std::nullopt;
  if (!frame) {
    ++traffic_.malformed_frames;
  } else if (frame->kind == FrameKind::event) {
    take_event(*frame);
  } else {
    take_response(*frame);
  }
}

void Client::Impl::take_event(const Frame& frame) {
  ++traffic_.events;
  if (frame.seq) {
    if (last_seq_ && *frame.seq != *last_seq_ + 1) {
      ++traffic_.sequence_gaps;
      if (*frame.seq > *last_seq_) traffic_.missing_events += *frame.seq - *last_seq_ - 1;
    }
    last_seq_ = frame.seq;
  }
  if (event_) event_({frame.event, frame.body, read_});
}

bool Client::Impl::is_last(const OpenRequest& request, const Frame& frame) const {
  return request.answers == Answers::one || !frame.ok || member(frame.body, "status") != R"("accepted")";
}

void Client::Impl::take_response(const Frame& frame) {
  ++traffic_.responses;
  OpenRequest* const request = requests_.find(frame.id);
  if (request == nullptr) {
    ++traffic_.unasked_responses;
  } else if (!request->given_up) {
    answer(*request, frame);
  } else {
    ++traffic_.late_responses;
    if (is_last(*request, frame)) requests_.remove(*request);
  }
}

void Client::Impl::answer(OpenRequest& request, const Frame& frame) {
  Answer answer;
  answer.sent = request.sent;
  answer.at = read_;
  std::string_view code;
  if (frame.ok) {
    answer.payload = frame.body;
  } else {
    answer.outcome = load::Outcome::failed;
    code = member(frame.body, "code");
    if (code.size() >= 2 && code.front() == '"') answer.code = code.substr(1, code.size() - 2);
    answer.error = refusal_text(request.method, frame.body);
  }
  const std::uint64_t id = request.id;
  Answered answered = std::exchange(request.answered, nullptr);
  if (is_last(request, frame)) {
    requests_.count(-1);
    requests_.remove(request);
    return answered(answer);
  }
  request.answers = Answers::one;
  answered(answer);
  OpenRequest* const same = requests_.find(id);
  if (same == nullptr) return;
  if (!same->given_up) {
    same->answered = std::move(answered);
  } else {
    answered({*same->given_up, {}, {}, same->error, same->sent, now()});
  }
}

void Client::Impl::give_up(OpenRequest& request, load::Outcome outcome, const std::string& error) {
  requests_.count(-1);
  request.given_up = outcome;
  request.error = cut(error);
  const Answer answer{outcome, {}, {}, request.error, request.sent, now()};
  if (const Answered answered = std::exchange(request.answered, nullptr)) answered(answer);
}

void Client::Impl::give_up_all(load::Outcome outcome, const std::string& error) {
  for (const std::uint64_t id : requests_.due(Instant::max())) {
    OpenRequest* const request = requests_.find(id);
    if (request != nullptr && !request->given_up)
      give_up(*request, outcome, fmt::format("{} failed: {}", request->method, error));
  }
}

void Client::Impl::sweep() {
  next_sweep_ = Instant::max();
  const Instant moment = now();
  for (const std::uint64_t id : requests_.due(moment)) {
    OpenRequest* const request = requests_.find(id);
    if (request == nullptr || request->given_up) continue;
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(request->until - request->sent);
    give_up(*request, load::Outcome::timeout,
            fmt::format("{} failed: no answer in {} ms", request->method, limit.count()));
  }
  const Instant next = requests_.next_due();
  if (next < next_sweep_) sweep_by(std::max(next, moment + sweep_every));
}

void Client::Impl::sweep_by(Instant moment) {
  next_sweep_ = moment;
  sweeping_.at(moment);
}

const Traffic& Client::Impl::traffic() {
  if (socket_) {
    traffic_.bytes_in = socket_->bytes_in();
    traffic_.bytes_out = socket_->bytes_out();
  }
  return traffic_;
}

void Client::Impl::hang_up() {
  traffic();
  sweeping_.clear();
  socket_.reset();
}

asio::awaitable<void> Client::Impl::close() {
  const auto keep = shared_from_this();
  if (state_ != State::open) co_return;
  state_ = State::closing;
  give_up_all(load::Outcome::censored, "not answered when the connection was closed");
  if (socket_) co_await socket_->close(net::CloseCode::normal, {});
  state_ = State::ended;
  hang_up();
}

void Client::Impl::drop() {
  if (state_ == State::ended) return;
  state_ = State::ended;
  hang_up();
  give_up_all(load::Outcome::censored, "not answered when the connection was dropped");
}

void Client::Impl::abandon() {
  state_ = State::ended;
  hang_up();
  requests_.clear();
}

}  // namespace tare::lab_gateway
