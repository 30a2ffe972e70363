#include "runtime/provider/event_reader.hpp"

#include <utility>

#include "base/text.hpp"
#include "runtime/provider/chat_reader.hpp"
#include "runtime/provider/dig.hpp"
#include "runtime/provider/failure.hpp"
#include "runtime/provider/responses_reader.hpp"

namespace tare::provider {

void EventReader::feed(std::string_view data) {
  if (done_) return;
  if (data == "[DONE]") return finish();
  json::Value value;
  try {
    value = json::parse(data, "an event of the reply");
  } catch (const Error& error) {
    throw Failure(FailureKind::garbage, error.what(), error.why());
  }
  read(value.if_object());
}

void EventReader::end() {
  if (!done_) finish();
  if (!done_) throw Failure(FailureKind::cut, "the reply ended before it was whole");
}

Events EventReader::take() {
  return std::exchange(events_, {});
}

void EventReader::text(std::string_view delta) {
  if (!delta.empty()) add(TextDelta{std::string(delta)});
}

void EventReader::complete(StopReason reason) {
  if (std::exchange(done_, true)) return;
  add(Done{reason});
}

std::string error_text(const json::Object* error) {
  constexpr std::size_t longest = 500;
  std::string_view message = text_in(error, "message").value_or("");
  if (message.empty()) message = text_in(error, "code").value_or("");
  if (message.empty()) message = "it does not say why";
  return text::one_line(message.substr(0, longest));
}

std::unique_ptr<EventReader> event_reader(Dialect dialect) {
  if (dialect == Dialect::responses) return std::make_unique<ResponsesReader>();
  return std::make_unique<ChatReader>();
}

}  // namespace tare::provider
