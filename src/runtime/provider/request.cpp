#include "runtime/provider/request.hpp"

#include <fmt/format.h>

#include "base/json.hpp"

namespace tare::provider {
namespace {

using json::Writer;

void write_text(Writer& out, std::string_view key, std::string_view value) {
  out.key(key);
  out.string(value);
}

/// {"key": value and what `rest` writes}
template <class Rest>
void write_object(Writer& out, Rest rest) {
  out.begin_object();
  rest();
  out.end_object();
}

std::string_view parameters_of(const ToolSpec& tool) {
  if (tool.parameters.empty()) return R"({"type":"object","properties":{}})";
  json::parse(tool.parameters, fmt::format("parameters of the tool '{}'", tool.name));
  return tool.parameters;
}

/// What somebody says, the same in both dialects.
void write_message(Writer& out, std::string_view role, std::string_view text) {
  out.element();
  write_object(out, [&] {
    write_text(out, "role", role);
    write_text(out, "content", text);
  });
}

/// The `input` items of the responses dialect.
class ResponsesItems {
 public:
  explicit ResponsesItems(Writer& out, std::string& text) : out_(out), text_(text) {}

  void operator()(const UserMessage& message) { write_message(out_, "user", message.text); }

  void operator()(const AssistantMessage& message) {
    if (!message.text.empty()) write_message(out_, "assistant", message.text);
    for (const ToolCall& call : message.calls) {
      out_.element();
      write_object(out_, [&] {
        write_text(out_, "type", "function_call");
        write_text(out_, "call_id", call.id);
        write_text(out_, "name", call.name);
        write_text(out_, "arguments", call.arguments);
      });
    }
  }

  void operator()(const ToolResult& result) {
    out_.element();
    write_object(out_, [&] {
      write_text(out_, "type", "function_call_output");
      write_text(out_, "call_id", result.call_id);
      write_text(out_, "output", result.output);
    });
  }

  void write_tool(const ToolSpec& tool) {
    out_.element();
    write_object(out_, [&] {
      write_text(out_, "type", "function");
      write_text(out_, "name", tool.name);
      write_text(out_, "description", tool.description);
      out_.key("parameters");
      text_ += parameters_of(tool);
    });
  }

 private:
  Writer& out_;
  std::string& text_;
};

/// The `messages` of the chat dialect.
class ChatMessages {
 public:
  explicit ChatMessages(Writer& out, std::string& text) : out_(out), text_(text) {}

  void operator()(const UserMessage& message) { write_message(out_, "user", message.text); }

  void operator()(const AssistantMessage& message) {
    out_.element();
    write_object(out_, [&] {
      write_text(out_, "role", "assistant");
      out_.key("content");
      if (message.text.empty()) {
        out_.null();
      } else {
        out_.string(message.text);
      }
      if (message.calls.empty()) return;
      out_.key("tool_calls");
      out_.begin_array(false);
      for (const ToolCall& call : message.calls) write_call(call);
      out_.end_array();
    });
  }

  void operator()(const ToolResult& result) {
    out_.element();
    write_object(out_, [&] {
      write_text(out_, "role", "tool");
      write_text(out_, "tool_call_id", result.call_id);
      write_text(out_, "content", result.output);
    });
  }

  void write_tool(const ToolSpec& tool) {
    out_.element();
    write_object(out_, [&] {
      write_text(out_, "type", "function");
      out_.key("function");
      write_object(out_, [&] {
        write_text(out_, "name", tool.name);
        write_text(out_, "description", tool.description);
        out_.key("parameters");
        text_ += parameters_of(tool);
      });
    });
  }

 private:
  void write_call(const ToolCall& call) {
    out_.element();
    write_object(out_, [&] {
      write_text(out_, "id", call.id);
      write_text(out_, "type", "function");
      out_.key("function");
      write_object(out_, [&] {
        write_text(out_, "name", call.name);
        write_text(out_, "arguments", call.arguments);
      });
    });
  }

  Writer& out_;
  std::string& text_;
};

template <class Items>
void write_conversation(Writer& out, std::string& text, const ModelRequest& request,
                        std::string_view items_key) {
  Items items(out, text);
  out.key(items_key);
  out.begin_array(false);
  if (!request.system.empty()) write_message(out, "system", request.system);
  for (const Item& item : request.items) std::visit(items, item);
  out.end_array();
  if (request.tools.empty()) return;
  out.key("tools");
  out.begin_array(false);
  for (const ToolSpec& tool : request.tools) items.write_tool(tool);
  out.end_array();
  out.key("parallel_tool_calls");
  out.boolean(true);
}

}  // namespace

std::string_view path_of(Dialect dialect) {
  return dialect == Dialect::responses ? "/responses" : "/chat/completions";
}

std::string request_body(Dialect dialect, const ModelRequest& request) {
  std::string text;
  Writer out(text, Writer::Style::compact);
  write_object(out, [&] {
    write_text(out, "model", request.model);
    out.key("stream");
    out.boolean(true);
    if (request.max_output_tokens) {
      // The chat dialect's newer name, max_completion_tokens, is one that many local servers skip.
      out.key(dialect == Dialect::responses ? "max_output_tokens" : "max_tokens");
      out.integer(std::uint64_t{*request.max_output_tokens});
    }
    if (dialect == Dialect::responses) {
      out.key("store");
      out.boolean(false);
      write_conversation<ResponsesItems>(out, text, request, "input");
    } else {
      out.key("stream_options");
      write_object(out, [&] {
        out.key("include_usage");
        out.boolean(true);
      });
      write_conversation<ChatMessages>(out, text, request, "messages");
    }
  });
  return text;
}

}  // namespace tare::provider
