#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "runtime/provider/reply_plan.hpp"

namespace tare::provider {

/// Writes one reply of the mock server in a dialect. Streamed: `begin`, `delta` for each chunk, `end`. The
/// pieces are appended to one text, so that a reply without delays is written to its connection at once.
class Renderer {
 public:
  explicit Renderer(const ReplyPlan& plan) : plan_(plan) {}
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;
  virtual ~Renderer() = default;

  virtual std::string begin() = 0;
  /// `sent` is written into the event as "sentNs", which clients skip.
  std::string delta(std::string_view text, std::optional<Instant> sent);
  /// Calls, usage and the last word.
  virtual std::string end() = 0;
  /// The reply as one JSON text, for `stream: false`.
  virtual std::string whole() = 0;

 protected:
  virtual std::string render_delta(std::string_view text, std::string_view stamp) = 0;

  const ReplyPlan& plan() const { return plan_; }
  /// What the deltas were, joined.
  const std::string& text() const { return text_; }

 private:
  const ReplyPlan& plan_;
  std::string text_;
};

/// The plan must outlive the renderer.
std::unique_ptr<Renderer> renderer(Dialect dialect, const ReplyPlan& plan);

/// The body of an answer that refuses: {"error":{"message":…,"type":…}}.
std::string error_body(std::string_view message, std::string_view type);

/// An error in the middle of a streamed reply.
std::string error_event(Dialect dialect, std::string_view message);

/// `text` as a JSON string, quotes included.
std::string json_text(std::string_view text);

}  // namespace tare::provider
