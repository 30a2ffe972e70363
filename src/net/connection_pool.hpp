#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "net/stream.hpp"

namespace tare::net {

/// The connections of a client to one server: so many at most, lent to one request each, in the order in
/// which they ask.
class ConnectionPool : public std::enable_shared_from_this<ConnectionPool> {
 public:
  ConnectionPool(boost::asio::io_context& io, std::size_t most) : io_(io), most_(most) {}

  /// The right to one connection. Destroying it closes the connection, unless it was given back.
  class Lease {
   public:
    explicit Lease(std::shared_ptr<ConnectionPool> pool) : pool_(std::move(pool)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    /// Takes an idle connection which its server has not closed yet. False when there is none.
    bool take_kept();
    void connect(std::shared_ptr<Stream> stream);
    void close();
    /// Keeps the connection for another request, and ends the lease.
    void give_back();
    explicit operator bool() const { return pool_ != nullptr; }
    Stream& stream() const { return *stream_; }

   private:
    std::shared_ptr<ConnectionPool> pool_;
    std::shared_ptr<Stream> stream_;
  };

  /// Waits for its turn.
  boost::asio::awaitable<Lease> lease();
  /// Closes what is idle, and from now on what is given back.
  void close();
  /// Open ones.
  std::size_t connections() const { return kept_.size() + lent_; }

 private:
  class Turn;
  void release();

  boost::asio::io_context& io_;
  std::size_t most_;
  std::vector<std::shared_ptr<Stream>> kept_;  ///< the last used last
  std::size_t leases_ = 0;
  std::size_t lent_ = 0;  ///< connections of leases
  std::list<Turn*> waiting_;
  bool closed_ = false;
};

}  // namespace tare::net
