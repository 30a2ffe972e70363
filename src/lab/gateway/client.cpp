#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/error.hpp"
#include "lab/gateway/client_impl.hpp"

namespace tare::lab_gateway {
namespace asio = boost::asio;
namespace {

/// What a coroutine waits for that asked a request. Also woken when nobody is left to answer it.
struct Waiting {
  explicit Waiting(asio::io_context& io) : woken(io, asio::steady_timer::time_point::max()) {}
  asio::steady_timer woken;
  load::Outcome outcome = load::Outcome::censored;
  std::string payload;
  std::string error = "the connection was dropped";
};

/// Part of the callback of a request.
class Waker {
 public:
  explicit Waker(std::shared_ptr<Waiting> waiting) : waiting_(std::move(waiting)) {}
  ~Waker() { waiting_->woken.cancel(); }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  void take(const Answer& answer) {
    waiting_->outcome = answer.outcome;
    waiting_->payload = answer.payload;
    waiting_->error = answer.error;
  }

 private:
  std::shared_ptr<Waiting> waiting_;
};

void rethrow_failure(const std::exception_ptr& failure) {
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

asio::awaitable<std::shared_ptr<Client>> Client::connect(asio::io_context& io, Address address,
                                                         std::chrono::milliseconds limit) {
  const std::shared_ptr<Impl> impl = co_await Impl::dial(io, std::move(address), limit);
  asio::co_spawn(io, impl->read_all(), rethrow_failure);
  co_return std::make_shared<Client>(impl);
}

Client::Client(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Client::~Client() {
  impl_->abandon();
}

void Client::ask(std::string_view method, std::string_view params, std::chrono::milliseconds limit,
                 Answered answered, Answers answers) {
  impl_->ask(method, params, limit, std::move(answered), answers);
}

asio::awaitable<std::string> Client::request(std::string method, std::string params,
                                             std::chrono::milliseconds limit) {
  const auto waiting = std::make_shared<Waiting>(impl_->io());
  auto waker = std::make_shared<Waker>(waiting);
  ask(method, params, limit, [waker = std::move(waker)](const Answer& answer) { waker->take(answer); });
  co_await waiting->woken.async_wait(asio::as_tuple(asio::use_awaitable));
  if (waiting->outcome == load::Outcome::ok) co_return std::move(waiting->payload);
  throw Error(waiting->outcome == load::Outcome::timeout ? ErrorCode::timeout : ErrorCode::failed,
              waiting->error);
}

void Client::on_event(std::function<void(const Event&)> event) {
  impl_->on_event(std::move(event));
}
void Client::on_lost(std::function<void(const std::string& why)> lost) {
  impl_->on_lost(std::move(lost));
}

const Traffic& Client::traffic() const {
  return impl_->traffic();
}
std::size_t Client::open() const {
  return impl_->open();
}
bool Client::is_open() const {
  return impl_->is_open();
}
const std::string& Client::hello() const {
  return impl_->hello();
}

asio::awaitable<void> Client::close() {
  return impl_->close();
}
void Client::drop() {
  impl_->drop();
}

}  // namespace tare::lab_gateway
