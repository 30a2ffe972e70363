#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tare::net {

struct Transfer;

/// The client's side of TLS 1.2 or later on a connected socket, which it does not own. The server's
/// certificate is checked against the host's name and the certificates this machine trusts (or those that
/// SSL_CERT_FILE names).
class Tls {
 public:
  Tls(int socket, const std::string& host);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  Transfer handshake();
  Transfer read(std::span<char> room);
  Transfer write(std::string_view bytes);
  /// What failed: "certificate verify failed: self-signed certificate".
  const std::string& why() const { return why_; }

 private:
  struct State;
  Transfer after(int result, std::size_t bytes);

  std::unique_ptr<State> state_;
  std::string why_;
};

}  // namespace tare::net
