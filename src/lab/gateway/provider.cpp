#include <fmt/format.h>

#include "lab/gateway/gateways.hpp"

namespace tare::lab_gateway {

boost::asio::awaitable<Provider> start_provider(boost::asio::io_context& io, ProviderSetup setup,
                                                Instant deadline) {
  Launch launch;
  launch.name = "the model server";
  launch.argv = {tare_program().string(),
                 "serve",
                 "provider",
                 "--end-with-parent",
                 "--port",
                 "0",
                 "--log",
                 setup.log.string(),
                 "--chunks",
                 std::to_string(setup.chunks),
                 "--chunk-delay-ms",
                 fmt::format("{}", setup.chunk_delay_ms)};
  launch.env_base = process::EnvBase::empty;
  launch.env = plain_environment();
  Provider provider;
  provider.server = std::make_unique<Server>(io, launch);
  const std::string line = co_await provider.server->first_line("become ready", deadline);
  provider.url = said_in(line, "url", launch.name);
  co_return provider;
}

}  // namespace tare::lab_gateway
