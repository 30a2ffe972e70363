#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What a model is asked: a conversation, in the words of neither dialect.
namespace tare::provider {

/// What the model wants done; also how a conversation remembers it.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  ///< JSON text, as the model wrote it: not checked here
  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

struct UserMessage {
  std::string text;
};
struct AssistantMessage {
  std::string text;  ///< may be empty when there are calls
  std::vector<ToolCall> calls;
};
/// What came of a call.
struct ToolResult {
  std::string call_id;
  std::string output;
};
using Item = std::variant<UserMessage, AssistantMessage, ToolResult>;

/// A tool that the model may call.
struct ToolSpec {
  std::string name = {};
  std::string description = {};
  std::string parameters = {};  ///< JSON Schema, as JSON text that goes out as it is
};

struct ModelRequest {
  std::string model = {};
  std::string system = {};  ///< may be empty
  std::vector<Item> items = {};
  std::vector<ToolSpec> tools = {};
  std::optional<std::uint32_t> max_output_tokens = {};
};

}  // namespace tare::provider
