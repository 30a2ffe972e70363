#include "runtime/gateway/sqlite_store.hpp"

#include <utility>

namespace tare::gateway {

SqliteStore::SqliteStore(boost::asio::io_context& io, const sqlite::Options& options)
    : database_(options),
      kept_(database_.load()),
      reader_(database_.path()),
      queue_(io, [this](auto writes) { database_.commit(writes); }) {}

SqliteStore::~SqliteStore() = default;

std::size_t SqliteStore::pending() const {
  return *pending_;
}

void SqliteStore::write(std::vector<Change> changes, Done done) {
  ++*pending_;
  Done counted = [pending = pending_, done = std::move(done)](const std::exception_ptr& failure) {
    --*pending;
    done(failure);
  };
  queue_.push(std::move(changes), std::move(counted));
}

std::vector<Message> SqliteStore::messages(SessionId session, std::uint32_t before, Span span) {
  return reader_.messages(session, before, span);
}

Extent SqliteStore::extent(SessionId session) {
  return reader_.extent(session);
}

SqliteStore::Facts SqliteStore::facts() const {
  return queue_.facts();
}

}  // namespace tare::gateway
