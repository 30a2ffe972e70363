#include "runtime/provider/chat_reader.hpp"

#include <utility>

#include "runtime/provider/dig.hpp"
#include "runtime/provider/failure.hpp"

namespace tare::provider {
namespace {

StopReason reason_of(std::string_view finish_reason) {
  if (finish_reason == "tool_calls" || finish_reason == "function_call") return StopReason::tool_calls;
  if (finish_reason == "length") return StopReason::length;
  if (finish_reason == "content_filter") return StopReason::filtered;
  return StopReason::stop;
}

}  // namespace

void ChatReader::read(const json::Object* object) {
  if (const json::Object* error = object_in(object, "error"))
    throw Failure(FailureKind::reported, "the model server reported an error", error_text(error));
  if (const json::Object* usage = object_in(object, "usage")) {
    add(Usage{count_in(usage, "prompt_tokens"), count_in(usage, "completion_tokens"),
              count_in(usage, "total_tokens"),
              count_in(object_in(usage, "prompt_tokens_details"), "cached_tokens")});
  }
  const json::Array* choices = array_in(object, "choices");
  if (choices == nullptr || choices->empty()) return;
  const json::Object* choice = choices->front().if_object();
  const json::Object* delta = object_in(choice, "delta");
  text(text_in(delta, "content").value_or(""));
  read_calls(array_in(delta, "tool_calls"));
  if (const auto reason = text_in(choice, "finish_reason")) {
    give_calls();
    reason_ = reason_of(*reason);
  }
}

void ChatReader::finish() {
  if (reason_) complete(*reason_);
}

void ChatReader::read_calls(const json::Array* calls) {
  if (calls == nullptr) return;
  for (const json::Value& value : *calls) {
    const json::Object* piece = value.if_object();
    // Servers that give a call in one piece may leave its index out.
    ToolCall& call = calls_[count_in(piece, "index").value_or(calls_.size())];
    const json::Object* function = object_in(piece, "function");
    if (const auto id = text_in(piece, "id"); id && !id->empty()) call.id = *id;
    if (const auto name = text_in(function, "name")) call.name += *name;
    if (const auto arguments = text_in(function, "arguments")) call.arguments += *arguments;
  }
}

void ChatReader::give_calls() {
  for (auto& [index, call] : std::exchange(calls_, {})) {
    if (call.id.empty() || call.name.empty())
      throw Failure(FailureKind::garbage, "a call of a tool in the reply has no id or no name");
    add(std::move(call));
  }
}

}  // namespace tare::provider
