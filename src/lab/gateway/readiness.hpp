#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "lab/gateway/server.hpp"
#include "net/http.hpp"

namespace tare::lab_gateway {

/// Asks /readyz of an HTTP server until it answers 200. Throws Error(timeout) with its last answer at the
/// deadline; with a server process, Error(failed) when that ends before; without one, Error(unavailable) when
/// nobody is there.
boost::asio::awaitable<void> wait_until_ready(boost::asio::io_context& io, net::Url http, Server* server,
                                              Instant deadline);

}  // namespace tare::lab_gateway
