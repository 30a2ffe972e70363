#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "lab/gateway/client.hpp"

/// What a client and a gateway say before anything else.
namespace tare::lab_gateway {

/// The parameters of `connect`, JSON.
std::string connect_params(const Address& address);

/// Why a gateway took no connection.
struct Refusal {
  enum class Remedy : std::uint8_t {
    none,
    patience,  ///< it is starting and takes one soon
  };
  Error error;
  Remedy remedy = Remedy::none;
};
/// Of the error of a refused `connect`, JSON.
Refusal refusal_of(std::string_view error, const Address& address);

/// Throws Error(failed) unless this, the payload of an accepted `connect`, is the hello of a gateway that
/// speaks the lab's protocol.
void check_hello(std::string_view payload, const Address& address);

}  // namespace tare::lab_gateway
