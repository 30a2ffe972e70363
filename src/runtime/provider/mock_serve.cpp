#include "runtime/provider/mock_serve.hpp"

#include <csignal>

#include <boost/asio/signal_set.hpp>

namespace tare::provider {

void serve_mock(const MockOptions& options, const std::function<void(std::uint16_t)>& listening) {
  boost::asio::io_context io(1);
  boost::asio::signal_set signals(io, SIGINT, SIGTERM);
  const SystemClock clock;
  std::optional<Error> failure;
  MockServer server(io, options, clock, [&](const Error& error) {
    failure = error;
    signals.cancel();  // ends as if told to
  });
  signals.async_wait([&](const boost::system::error_code&, int) { server.stop(); });
  listening(server.port());
  io.run();
  if (failure) throw *failure;
}

}  // namespace tare::provider
