#pragma once

#include <cstdint>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "runtime/gateway/database.hpp"
#include "runtime/gateway/store.hpp"
#include "runtime/sqlite/write_queue.hpp"

namespace tare::gateway {

/// Keeps all in a Database that a thread of its own writes: whatever was asked for while it wrote goes into
/// its next transaction, so that any number of turns in flight share one fsync.
///
/// The destructor waits until all that was asked for is written.
class SqliteStore final : public Store {
 public:
  /// Throws as Database does; what was there is to be taken with `take_kept`.
  SqliteStore(boost::asio::io_context& io, const sqlite::Options& options);
  ~SqliteStore() override;

  Kept take_kept() { return std::move(kept_); }

  void write(std::vector<Change> changes, Done done) override;
  std::size_t pending() const override;
  std::vector<Message> messages(SessionId session, std::uint32_t before, Span span) override;
  Extent extent(SessionId session) override;

  using Facts = sqlite::WriteQueue<Change>::Facts;
  Facts facts() const;

 private:
  Database database_;  ///< the loop's until the first write, then the queue's
  Kept kept_;
  MessageReader reader_;
  std::shared_ptr<std::size_t> pending_ =
      std::make_shared<std::size_t>(0);  ///< the queue's last words may come late
  sqlite::WriteQueue<Change> queue_;
};

}  // namespace tare::gateway
