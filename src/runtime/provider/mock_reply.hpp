#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "net/http_server.hpp"
#include "runtime/provider/fault.hpp"
#include "runtime/provider/mock_server.hpp"
#include "runtime/provider/render.hpp"
#include "runtime/provider/request_log.hpp"
#include "runtime/provider/waits.hpp"

namespace tare::provider {

/// What all replies of a mock server share.
struct MockWorld {
  const Clock& clock;
  Waits& waits;
  Stamps stamps;
};

/// Told how a reply ends, before its last bytes go out: a client that has seen the end finds it in the log.
using Record = std::function<void(Outcome)>;

/// Sends one reply, as planned and with its fault. Chunks are due at fixed moments, so that a late one does
/// not delay the next. All that is due at once goes out in one write.
class MockReply {
 public:
  /// All arguments must outlive the reply. Counts and times of chunks are written into `entry`.
  MockReply(net::Exchange& exchange, const MockWorld& world, Dialect dialect, const ReplyPlan& plan,
            const std::optional<Fault>& fault, LoggedRequest& entry, Record record);

  /// Throws Stopped, and what the exchange throws when the client is gone.
  boost::asio::awaitable<void> stream();
  /// For `stream: false`.
  boost::asio::awaitable<void> whole();

 private:
  enum class Next : std::uint8_t { go_on, over };

  bool has(FaultKind kind) const { return fault_ && fault_->kind == kind; }
  bool is_due(std::size_t chunk) const;
  boost::asio::awaitable<Next> strike();
  boost::asio::awaitable<Next> answer_status();
  boost::asio::awaitable<void> late_first_byte();
  net::Response whole_response();
  Outcome outcome_of_end() const;
  void add_chunk(std::size_t index);
  boost::asio::awaitable<void> flush();
  boost::asio::awaitable<void> send_split();
  boost::asio::awaitable<void> finish();
  void hang_up();

  net::Exchange& exchange_;
  const MockWorld& world_;
  Dialect dialect_;
  const ReplyPlan& plan_;
  const std::optional<Fault>& fault_;
  LoggedRequest& entry_;
  Record record_;
  std::unique_ptr<Renderer> render_;
  std::string pending_;  ///< rendered, and not yet sent
  bool begun_ = false;
};

}  // namespace tare::provider
