#pragma once

#include <cstdint>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "runtime/gateway/database.hpp"
#include "runtime/gateway/store.hpp"

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

  struct Facts {
    std::uint64_t commits = 0;
    std::uint64_t writes = 0;  ///< of which each commit has one or more
    std::uint64_t failures = 0;
    double commit_seconds = 0;  ///< in all
  };
  Facts facts() const;

 private:
  class Writer;
  boost::asio::io_context* io_ = nullptr;
  Kept kept_;
  std::shared_ptr<std::size_t> pending_ =
      std::make_shared<std::size_t>(0);  ///< the writer's last words may come late
  std::shared_ptr<Writer> writer_;
  std::unique_ptr<MessageReader> reader_;
};

}  // namespace tare::gateway
