#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/provider/directives.hpp"
#include "runtime/provider/events.hpp"
#include "runtime/provider/mock_request.hpp"

namespace tare::provider {

/// What the mock server says without a directive of the request.
struct MockDefaults {
  std::string text = "Tare mock reply.";
  unsigned chunks = 8;
  Nanoseconds delay{0};  ///< between two chunks
};

/// What the mock server is going to answer.
struct ReplyPlan {
  std::uint64_t seq = 0;  ///< number of the request; ids are made of it
  std::string model = {};
  std::int64_t created = 0;              ///< seconds since 1970
  std::vector<std::string> chunks = {};  ///< of the text; never empty
  std::vector<ToolCall> calls = {};      ///< behind the text
  Nanoseconds delay{0};
  /// Input: a token for every four bytes of the request; output: one for every chunk and call.
  Usage usage = {};
};

/// The text of chunk `index`, counted from 0: the base, then " 2", " 3" and so on. So a reply of 3 chunks to
/// [[marker:x]] is "x 2 3".
std::string chunk_text(std::string_view base, unsigned index);

/// A request whose tools hold what the text asks to call is answered with the calls, behind one chunk of
/// commentary; once their results are there, or when the tool is not offered, with the text. A subagent's own
/// request calls nothing.
ReplyPlan plan_reply(const MockRequest& request, const Directives& directives, const MockDefaults& defaults,
                     std::uint64_t seq, WallTime now);

}  // namespace tare::provider
