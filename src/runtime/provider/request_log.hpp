#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <boost/describe.hpp>

#include "base/fd.hpp"

namespace tare::provider {

enum class Outcome : std::uint8_t {
  ok,       ///< the answer went out whole
  refused,  ///< it was one of status 400 or more
  fault,    ///< a fault that was asked for ended it
  gone,     ///< the client went away
  stopped,  ///< the server was stopped
};
BOOST_DESCRIBE_ENUM(Outcome, ok, refused, fault, gone, stopped)

/// One line of the request log. Times are nanoseconds of CLOCK_MONOTONIC, which all processes of a machine
/// share.
struct LoggedRequest {
  std::uint64_t seq = 0;  ///< from 1, in the order in which requests came
  std::string method = {};
  std::string path = {};
  std::uint64_t request_bytes = 0;
  std::optional<int> status = {};  ///< absent when there was no answer
  std::optional<std::string> model = {};
  std::optional<bool> stream = {};
  std::optional<std::uint64_t> tools = {};  ///< how many are offered
  std::optional<bool> after_tools = {};
  std::optional<std::uint64_t> max_output_tokens = {};
  std::optional<std::string> marker = {};
  std::optional<std::uint64_t> chunks = {};  ///< that were sent
  std::optional<std::uint64_t> calls = {};
  std::optional<std::string> fault = {};
  std::int64_t arrived_ns = 0;
  std::optional<std::int64_t> first_chunk_ns = {};
  std::optional<std::int64_t> last_chunk_ns = {};
  Outcome outcome = Outcome::ok;
};
BOOST_DESCRIBE_STRUCT(LoggedRequest, (),
                      (seq, method, path, request_bytes, status, model, stream, tools, after_tools,
                       max_output_tokens, marker, chunks, calls, fault, arrived_ns, first_chunk_ns,
                       last_chunk_ns, outcome))

/// JSON lines, appended with one write each, so that a reader never sees a part of one.
class RequestLog {
 public:
  /// Throws Error(input) when the file cannot be opened.
  explicit RequestLog(const std::filesystem::path& path);
  /// Throws Error(failed) when the line cannot be written: a log with a gap would be worse than none.
  void append(const LoggedRequest& request);

 private:
  std::filesystem::path path_;
  Fd fd_;
};

}  // namespace tare::provider
