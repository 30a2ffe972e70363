#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "runtime/provider/fault.hpp"
#include "runtime/provider/reply_plan.hpp"

namespace tare::provider {

/// Whether each chunk says when it was sent, in nanoseconds of CLOCK_MONOTONIC.
enum class Stamps : std::uint8_t {
  none,
  field,  ///< as "sentNs" of its event, which clients skip
  text,   ///< there, and at the end of its text as "{@1234}": a gateway carries that on to its own clients
};

struct MockOptions {
  std::string bind = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: a free one
  MockDefaults defaults = {};
  Stamps stamps = Stamps::none;
  std::optional<Fault> fault = {};  ///< of requests that name none themselves
  std::string api_key = {};         ///< when not empty, what requests must bring as bearer token
  std::optional<std::filesystem::path> log = {};
};

/// The mock model server: POST /v1/responses, /v1/chat/completions and /v1/embeddings, GET /v1/models and
/// /healthz. On the thread of its io_context. docs/provider.md says what it answers.
class MockServer {
 public:
  /// Listens at once. `on_failure` is told once, when the request log cannot be written any more. The clock
  /// must outlive the server. Throws Error(unavailable) when the address is taken, Error(input) when the log
  /// cannot be opened, Error(usage) for an address beyond loopback without a key.
  MockServer(boost::asio::io_context& io, const MockOptions& options, const Clock& clock,
             std::function<void(const Error&)> on_failure = {});
  ~MockServer();
  MockServer(const MockServer&) = delete;
  MockServer& operator=(const MockServer&) = delete;

  std::uint16_t port() const;
  /// Requests so far, but for /healthz.
  std::uint64_t requests() const;
  /// Stops listening, and cuts what is still being answered, which the log then says.
  void stop();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tare::provider
