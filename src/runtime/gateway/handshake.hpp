#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "net/websocket.hpp"
#include "runtime/gateway/frame.hpp"
#include "runtime/gateway/scope.hpp"

/// The first request of a connection: who is there, and what may they do?
namespace tare::gateway {

struct HandshakePolicy {
  enum class Phase : std::uint8_t { starting, ready };
  Phase phase = Phase::ready;
  std::optional<std::string> token;  ///< none: whoever reaches the port may in
  std::string nonce;                 ///< of this connection's challenge
  WallTime now{};
};

struct Hello {
  std::string client_id;
  std::string client_mode;
  std::string display_name;
  std::string client_version;
  Scopes scopes;
  std::vector<std::string> scope_names;  ///< as asked for, those that are known
};

/// The connection is answered and then closed with this code.
class HandshakeRefused : public Refusal {
 public:
  HandshakeRefused(net::CloseCode close_code, Fault fault)
      : Refusal(std::move(fault)), close_code_(close_code) {}
  net::CloseCode close_code() const { return close_code_; }

 private:
  net::CloseCode close_code_;
};

/// Throws HandshakeRefused.
Hello shake_hands(const RequestFrame& frame, const HandshakePolicy& policy);

/// What the server tells of itself in `hello-ok`.
struct Server {
  std::string version;
  std::string build_id;
  std::string boot_id;
  std::size_t max_payload = 0;
  std::size_t max_buffered = 0;
  std::chrono::milliseconds tick{30'000};
  std::string features;            ///< a JSON object
  std::string_view auth = "none";  ///< how clients prove that they may come in: none or token
};

std::string hello_ok(const Server& server, std::string_view connection, const Hello& hello,
                     std::string_view snapshot);

/// Payload of `connect.challenge`.
std::string challenge(std::string_view nonce, WallTime now);

}  // namespace tare::gateway
