#include "runtime/gateway/transcripts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "runtime/gateway/json_text.hpp"

namespace tare::gateway {
namespace {

std::size_t size_of(const Message& message) {
  return sizeof(Message) + message.text.size();
}

}  // namespace

std::uint32_t Transcripts::take_seq(Session& session) {
  if (!session.last_seq) session.last_seq = store_.extent(session.record.id).last_seq;
  return ++*session.last_seq;
}

void Transcripts::add(Session& session, Message message) {
  // What was read from the disk meanwhile may have it already, here and below.
  if (session.count && message.seq > session.counted_to) ++*session.count;
  if (!session.tail) return;
  if (!session.tail->empty() && session.tail->back().seq >= message.seq) return;
  push(session, std::move(message));
  shrink(session);
}

void Transcripts::push(Session& session, Message message) {
  session.tail_bytes += size_of(message);
  bytes_ += size_of(message);
  session.tail->push_back(std::move(message));
  if (session.tail->size() <= limits_.tail) return;
  session.tail_bytes -= size_of(session.tail->front());
  bytes_ -= size_of(session.tail->front());
  session.tail->pop_front();
}

void Transcripts::load(Session& session) {
  if (session.tail) {
    loaded_.splice(loaded_.begin(), loaded_, session.tail_place);
    return;
  }
  std::vector<Message> messages;
  if (session.count != 0) {
    messages = store_.messages(session.record.id, std::numeric_limits<std::uint32_t>::max(), {limits_.tail});
  }
  session.tail.emplace();
  session.tail_place = loaded_.insert(loaded_.begin(), &session);
  for (Message& message : messages) push(session, std::move(message));
  shrink(session);
}

void Transcripts::shrink(const Session& keep) {
  while (bytes_ > limits_.bytes && loaded_.back() != &keep) forget(*loaded_.back());
}

void Transcripts::forget(Session& session) {
  if (!session.tail) return;
  bytes_ -= std::exchange(session.tail_bytes, 0);
  session.tail.reset();
  loaded_.erase(session.tail_place);
}

std::vector<Message> Transcripts::page(Session& session, std::uint32_t before, Span span) {
  if (session.tail) {
    const auto end = std::ranges::lower_bound(*session.tail, before, {}, &Message::seq);
    const auto there = static_cast<std::size_t>(end - session.tail->begin());
    const bool is_all = session.count && session.tail->size() == *session.count;
    if (there >= span.messages || is_all) {
      auto from = end;
      for (std::size_t bytes = 0; from != session.tail->begin() && bytes <= span.bytes &&
                                  static_cast<std::size_t>(end - from) < span.messages;)
        bytes += (--from)->text.size();
      return {from, end};
    }
  }
  return store_.messages(session.record.id, before, span);
}

std::size_t Transcripts::count(Session& session) {
  if (!session.count) {
    const Extent extent = store_.extent(session.record.id);
    session.count = extent.count;
    session.counted_to = extent.last_seq;
  }
  return *session.count;
}

std::vector<const Message*> Transcripts::latest(Session& session, Span span) {
  load(session);
  std::vector<const Message*> found;
  std::size_t size = 0;
  for (auto message = session.tail->rbegin(); message != session.tail->rend() && found.size() < span.messages;
       ++message) {
    size += message->text.size();
    if (size > span.bytes && !found.empty()) break;
    found.push_back(&*message);
  }
  std::ranges::reverse(found);
  return found;
}

std::string message_id(const SessionRecord& session, std::uint32_t seq) {
  return fmt::format("{}-{}", session.uuid, seq);
}

void append_message(std::string& out, const SessionRecord& session, const Message& message) {
  ObjectText object(out);
  object.text("role", name_of(message.role));
  if (message.role == Role::user) {
    object.text("content", message.text);
  } else {
    std::string& content = object.value("content");
    content += R"([{"type":"text","text":)";
    append_string(content, message.text);
    content += "}]";
  }
  object.number("timestamp", message.at);
  if (message.role == Role::assistant)
    object.text("stopReason", message.outcome == Outcome::ok ? "stop" : name_of(message.outcome));
  std::string& own = object.value("__openclaw");
  ObjectText(own).text("id", message_id(session, message.seq)).number("seq", message.seq).close();
  object.close();
}

}  // namespace tare::gateway
