#pragma once

#include <cstdint>
#include <map>

#include "runtime/provider/event_reader.hpp"

namespace tare::provider {

/// The events of `POST /v1/responses`: response.output_text.delta, response.output_item.done (a call),
/// response.completed and their kin.
class ResponsesReader final : public EventReader {
 protected:
  void read(const json::Object* object) override;
  void finish() override;

 private:
  void read_item(const json::Object* item);
  void read_end(const json::Object* response, StopReason reason);

  std::map<std::uint64_t, bool> has_deltas_;  ///< by output index: texts that came in pieces
  bool has_calls_ = false;
};

}  // namespace tare::provider
