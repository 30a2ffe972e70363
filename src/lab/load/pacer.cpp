#include "lab/load/pacer.hpp"

#include <utility>

#include <boost/asio/steady_timer.hpp>

namespace tare::load {

class Pacer::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(boost::asio::io_context& io, const Schedule& schedule, Start start)
      : timer_(io), table_(schedule), start_(std::move(start)) {}

  const Timetable& table() const { return table_; }

  void begin() {
    table_.begin(SystemClock().now());
    arm();
  }

  void ended() {
    if (table_.next()) return;  // no round is open
    table_.ended(SystemClock().now());
    if (!starting_) arm();
  }

  void stop() {
    table_.stop();
    timer_.cancel();
  }

 private:
  void arm() {
    if (!table_.next()) return;
    timer_.expires_at(*table_.next());
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->start_due();
    });
  }

  /// All that is due by now; what becomes due meanwhile waits until answers had their turn.
  void start_due() {
    const Instant now = SystemClock().now();
    starting_ = true;
    while (table_.next() && *table_.next() <= now) {
      const Instant due = *table_.next();
      const std::uint64_t index = table_.started();
      table_.start(SystemClock().now());
      start_(index, due);
    }
    starting_ = false;
    arm();
  }

  boost::asio::steady_timer timer_;
  Timetable table_;
  Start start_;
  bool starting_ = false;
};

Pacer::Pacer(boost::asio::io_context& io, Schedule schedule, Start start)
    : impl_(std::make_shared<Impl>(io, schedule, std::move(start))) {}

Pacer::~Pacer() {
  stop();
}

void Pacer::begin() {
  impl_->begin();
}
void Pacer::ended() {
  impl_->ended();
}
void Pacer::stop() {
  impl_->stop();
}
std::uint64_t Pacer::started() const {
  return impl_->table().started();
}
bool Pacer::done() const {
  return impl_->table().done();
}

}  // namespace tare::load
