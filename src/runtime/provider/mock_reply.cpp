#include "runtime/provider/mock_reply.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "net/sse.hpp"

namespace tare::provider {
namespace {

using boost::asio::awaitable;

/// What the fault `split` appends to each chunk, as it needs characters that can be split.
constexpr std::string_view wide_characters = " é😀";

/// A stalled reply is cut in the end, so that a client that is gone does not hold its connection for ever.
constexpr std::chrono::minutes longest_stall(10);

const net::Headers& stream_headers() {
  static const net::Headers headers{{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-cache"}};
  return headers;
}

net::Response json_response(int status, std::string body) {
  return {status, {{"Content-Type", "application/json"}}, std::move(body)};
}

}  // namespace

MockReply::MockReply(net::Exchange& exchange, const MockWorld& world, Dialect dialect, const ReplyPlan& plan,
                     const std::optional<Fault>& fault, LoggedRequest& entry, Record record)
    : exchange_(exchange),
      world_(world),
      dialect_(dialect),
      plan_(plan),
      fault_(fault),
      entry_(entry),
      record_(std::move(record)),
      render_(renderer(dialect, plan)) {}

awaitable<void> MockReply::stream() {
  co_await late_first_byte();
  if (co_await answer_status() == Next::over) co_return;
  const Instant start = world_.clock.now();
  pending_ = render_->begin();
  for (std::size_t i = 0; i < plan_.chunks.size(); ++i) {
    if (i > 0 && plan_.delay > Nanoseconds(0)) {
      co_await flush();
      co_await world_.waits.until(start + plan_.delay * static_cast<std::int64_t>(i));
    }
    if (is_due(i) && co_await strike() == Next::over) co_return;
    add_chunk(i);
  }
  if (is_due(plan_.chunks.size()) && co_await strike() == Next::over) co_return;
  pending_ += render_->end();
  co_await finish();
}

awaitable<void> MockReply::whole() {
  co_await late_first_byte();
  if (co_await answer_status() == Next::over) co_return;
  if (has(FaultKind::stall)) co_await world_.waits.until(world_.clock.now() + longest_stall);
  if (has(FaultKind::stall) || has(FaultKind::cut) || has(FaultKind::shorten)) {
    hang_up();
  } else {
    net::Response response = whole_response();
    entry_.status = response.status;
    record_(outcome_of_end());
    co_await exchange_.respond(std::move(response));
  }
}

net::Response MockReply::whole_response() {
  if (has(FaultKind::garbage)) return json_response(200, "{\"id\": oops");
  if (has(FaultKind::bad_utf8)) return json_response(200, "{\"id\":\"\xc3\"}");
  if (has(FaultKind::error))
    return json_response(500, error_body("asked for by the request", "server_error"));
  entry_.chunks = plan_.chunks.size();
  return json_response(200, render_->whole());
}

/// Whether the fault comes before this chunk, or, when it is one more than there are, before the end.
bool MockReply::is_due(std::size_t chunk) const {
  return fault_ && std::min<std::size_t>(fault_->after, plan_.chunks.size()) == chunk;
}

awaitable<MockReply::Next> MockReply::strike() {
  switch (fault_->kind) {
    case FaultKind::cut:
      if (fault_->after > 0) co_await flush();
      hang_up();
      co_return Next::over;
    case FaultKind::stall:
      co_await flush();
      co_await world_.waits.until(world_.clock.now() + longest_stall);
      hang_up();
      co_return Next::over;
    case FaultKind::shorten:
    case FaultKind::error:
      if (has(FaultKind::error)) pending_ += error_event(dialect_, "asked for by the request");
      co_await flush();
      record_(Outcome::fault);
      co_await exchange_.end();
      co_return Next::over;
    case FaultKind::garbage:
      pending_ += net::sse_data("{\"type\": oops");
      co_return Next::go_on;
    case FaultKind::bad_utf8:
      pending_ += render_->delta("?", {});
      pending_[pending_.rfind('?')] = '\xc3';
      co_return Next::go_on;
    default:
      co_return Next::go_on;
  }
}

/// An answer that is no reply at all.
awaitable<MockReply::Next> MockReply::answer_status() {
  net::Response response;
  if (has(FaultKind::status)) {
    response = json_response(fault_->status, error_body("asked for by the request", "mock_fault"));
    if (fault_->retry_after) {
      const double seconds = static_cast<double>(fault_->retry_after->count()) / 1000;
      response.headers.push_back({"Retry-After", fmt::format("{}", seconds)});
    }
  } else if (has(FaultKind::html)) {
    response = {200, {{"Content-Type", "text/html"}}, "<html><body>not a model server</body></html>"};
  } else {
    co_return Next::go_on;
  }
  entry_.status = response.status;
  record_(Outcome::fault);
  co_await exchange_.respond(std::move(response));
  co_return Next::over;
}

awaitable<void> MockReply::late_first_byte() {
  if (has(FaultKind::slow)) co_await world_.waits.until(world_.clock.now() + fault_->delay);
}

void MockReply::add_chunk(std::size_t index) {
  const Instant now = world_.clock.now();
  const std::int64_t now_ns = now.time_since_epoch().count();
  std::string text = plan_.chunks[index];
  if (has(FaultKind::split)) text += wide_characters;
  if (world_.stamps == Stamps::text) text += fmt::format("{{@{}}}", now_ns);
  pending_ += render_->delta(text, world_.stamps == Stamps::none ? std::nullopt : std::optional(now));
  if (!entry_.first_chunk_ns) entry_.first_chunk_ns = now_ns;
  entry_.last_chunk_ns = now_ns;
  entry_.chunks = index + 1;
}

awaitable<void> MockReply::flush() {
  if (!std::exchange(begun_, true)) {
    entry_.status = 200;
    co_await exchange_.begin(200, stream_headers());
  }
  if (has(FaultKind::split)) co_return co_await send_split();
  if (!pending_.empty()) co_await exchange_.chunk(std::exchange(pending_, {}));
}

/// Each piece ends in the middle of a character. The pause makes it likely that the client reads it alone.
awaitable<void> MockReply::send_split() {
  const std::string all = std::exchange(pending_, {});
  std::size_t from = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto before = static_cast<unsigned char>(all[i - 1]);
    if (before < 0xC0) continue;
    co_await exchange_.chunk(std::string_view(all).substr(from, i - from));
    co_await world_.waits.until(world_.clock.now() + std::chrono::milliseconds(1));
    from = i;
  }
  co_await exchange_.chunk(std::string_view(all).substr(from));
}

/// Of a reply that came to its end.
Outcome MockReply::outcome_of_end() const {
  const bool is_whole = !fault_ || has(FaultKind::slow) || has(FaultKind::split);
  return is_whole ? Outcome::ok : Outcome::fault;
}

awaitable<void> MockReply::finish() {
  if (!begun_ && !has(FaultKind::split)) {
    entry_.status = 200;
    record_(outcome_of_end());
    co_return co_await exchange_.respond({200, stream_headers(), std::exchange(pending_, {})});
  }
  record_(outcome_of_end());
  co_await flush();
  co_await exchange_.end();
}

void MockReply::hang_up() {
  record_(Outcome::fault);
  exchange_.cut();
}

}  // namespace tare::provider
