#include "net/connection_pool.hpp"

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tare::net {
namespace asio = boost::asio;

/// A place in the queue. What was granted to one that is given up goes to the next.
class ConnectionPool::Turn {
 public:
  explicit Turn(ConnectionPool& pool) : pool_(pool), granted_(pool.io_, Loop::Moment::max()) {
    place_ = pool_.waiting_.insert(pool_.waiting_.end(), this);
  }
  ~Turn() {
    if (is_waiting_) pool_.waiting_.erase(place_);
    if (is_granted_) pool_.release();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  asio::awaitable<void> wait() {
    auto [error] = co_await granted_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!std::exchange(is_granted_, false)) throw boost::system::system_error(error);
  }
  void grant() {
    is_waiting_ = false;
    is_granted_ = true;
    granted_.cancel();
  }

 private:
  ConnectionPool& pool_;
  asio::steady_timer granted_;
  std::list<Turn*>::iterator place_;
  bool is_waiting_ = true;
  bool is_granted_ = false;
};

asio::awaitable<ConnectionPool::Lease> ConnectionPool::lease() {
  const auto keep = shared_from_this();
  if (leases_ < most_ && waiting_.empty()) {
    ++leases_;
  } else {
    Turn turn(*this);
    co_await turn.wait();
  }
  co_return Lease(keep);
}

void ConnectionPool::release() {
  if (waiting_.empty()) {
    --leases_;
    return;
  }
  Turn* next = waiting_.front();
  waiting_.pop_front();
  next->grant();
}

void ConnectionPool::close() {
  closed_ = true;
  for (const auto& stream : std::exchange(kept_, {})) stream->close();
}

ConnectionPool::Lease::~Lease() {
  if (!pool_) return;
  close();
  pool_->release();
}

bool ConnectionPool::Lease::take_kept() {
  while (!pool_->kept_.empty()) {
    connect(std::move(pool_->kept_.back()));
    pool_->kept_.pop_back();
    if (!stream_->readable()) return true;
    close();
  }
  return false;
}

void ConnectionPool::Lease::connect(std::shared_ptr<Stream> stream) {
  stream_ = std::move(stream);
}

void ConnectionPool::Lease::close() {
  if (stream_) std::exchange(stream_, nullptr)->close();
}

void ConnectionPool::Lease::give_back() {
  if (!pool_->closed_) pool_->kept_.push_back(std::exchange(stream_, nullptr));
  // The oldest may never be asked for again, though its server has closed it.
  auto& kept = pool_->kept_;
  if (!kept.empty() && kept.front()->readable()) {
    kept.front()->close();
    kept.erase(kept.begin());
  }
  const Lease ended(std::move(*this));
}

}  // namespace tare::net
