#include "runtime/provider/responses_reader.hpp"

#include "runtime/provider/dig.hpp"
#include "runtime/provider/failure.hpp"

namespace tare::provider {
namespace {

std::optional<Usage> responses_usage(const json::Object* usage) {
  if (usage == nullptr) return {};
  return Usage{count_in(usage, "input_tokens"), count_in(usage, "output_tokens"),
               count_in(usage, "total_tokens"),
               count_in(object_in(usage, "input_tokens_details"), "cached_tokens")};
}

StopReason reason_of_incomplete(const json::Object* response) {
  const auto reason = text_in(object_in(response, "incomplete_details"), "reason");
  return reason == "content_filter" ? StopReason::filtered : StopReason::length;
}

Failure reported(const json::Object* error) {
  return Failure(FailureKind::reported, "the model server reported an error", error_text(error));
}

}  // namespace

void ResponsesReader::read(const json::Object* object) {
  const std::string_view type = text_in(object, "type").value_or("");
  const std::uint64_t index = count_in(object, "output_index").value_or(0);
  if (type == "response.output_text.delta" || type == "response.refusal.delta") {
    has_deltas_[index] = true;
    text(text_in(object, "delta").value_or(""));
  } else if (type == "response.output_text.done") {
    // Some servers send a text that is short only here.
    if (!has_deltas_[index]) text(text_in(object, "text").value_or(""));
  } else if (type == "response.output_item.done") {
    read_item(object_in(object, "item"));
  } else if (type == "response.completed") {
    read_end(object_in(object, "response"), has_calls_ ? StopReason::tool_calls : StopReason::stop);
  } else if (type == "response.incomplete") {
    const json::Object* response = object_in(object, "response");
    read_end(response, reason_of_incomplete(response));
  } else if (type == "response.failed") {
    throw reported(object_in(object_in(object, "response"), "error"));
  } else if (type == "error") {
    const json::Object* error = object_in(object, "error");
    throw reported(error == nullptr ? object : error);
  } else if (const json::Object* error = object_in(object, "error"); type.empty() && error != nullptr) {
    throw reported(error);
  }
}

void ResponsesReader::finish() {
  // Only response.completed says that nothing is missing.
}

void ResponsesReader::read_item(const json::Object* item) {
  if (text_in(item, "type") != "function_call") return;
  const auto call_id = text_in(item, "call_id");
  const auto name = text_in(item, "name");
  if (!call_id || !name)
    throw Failure(FailureKind::garbage, "a call of a tool in the reply has no call_id or no name");
  has_calls_ = true;
  add(ToolCall{std::string(*call_id), std::string(*name),
               std::string(text_in(item, "arguments").value_or(""))});
}

void ResponsesReader::read_end(const json::Object* response, StopReason reason) {
  if (const auto usage = responses_usage(object_in(response, "usage"))) add(*usage);
  complete(reason);
}

}  // namespace tare::provider
