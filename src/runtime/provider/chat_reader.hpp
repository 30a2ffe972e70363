#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "runtime/provider/event_reader.hpp"

namespace tare::provider {

/// The chunks of `POST /v1/chat/completions`. A call is complete with its choice's finish_reason; usage may
/// come behind it, so that the reply is done with [DONE], or with the end of the stream for servers that send
/// none.
class ChatReader final : public EventReader {
 protected:
  void read(const json::Object* object) override;
  void finish() override;

 private:
  void read_calls(const json::Array* calls);
  void give_calls();

  std::map<std::uint64_t, ToolCall> calls_;  ///< by index, while their arguments come
  std::optional<StopReason> reason_;
};

}  // namespace tare::provider
