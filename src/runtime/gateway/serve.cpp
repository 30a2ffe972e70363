#include "runtime/gateway/serve.hpp"

#include <csignal>
#include <cstring>

#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>

#include "runtime/gateway/gateway.hpp"

namespace tare::gateway {

void serve(Config config, const std::function<void(std::uint16_t)>& ready,
           const std::function<void(std::string_view)>& log) {
  const SystemClock clock;
  boost::asio::io_context io(1);
  {
    // Before any thread is made, so that all of them leave the signals to this one.
    boost::asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.add(SIGHUP);
    signals.add(SIGQUIT);
    Gateway gateway(io, clock, std::move(config), log);
    gateway.on_ready = [&] { ready(gateway.port()); };
    std::function<void()> listen = [&] {
      signals.async_wait([&](const boost::system::error_code& error, int signal) {
        if (error) return;
        gateway.stop(fmt::format("SIG{}", ::sigabbrev_np(signal)));
        listen();
      });
    };
    listen();
    io.run();
    gateway.log().write(LogLevel::info, "stopped");
  }
}

}  // namespace tare::gateway
