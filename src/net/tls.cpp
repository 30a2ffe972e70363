#include "net/tls.hpp"

#include <cerrno>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <sys/socket.h>

#include "base/error.hpp"
#include "net/stream.hpp"

namespace tare::net {
namespace {

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};
using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Freed<SSL_free>>;
using Method = std::unique_ptr<BIO_METHOD, Freed<BIO_meth_free>>;

int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

// OpenSSL's own socket BIO would let a write to a closed connection end the process by SIGPIPE.
int send_to_socket(BIO* bio, const char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  const ssize_t n =
      ::send(socket_of(bio), bytes, static_cast<std::size_t>(count), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(n);
}

int receive_from_socket(BIO* bio, char* room, int count) {
  BIO_clear_retry_flags(bio);
  const ssize_t n = ::recv(socket_of(bio), room, static_cast<std::size_t>(count), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return static_cast<int>(n);
}

long control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

Method make_method() {
  Method method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without signals"));
  BIO_meth_set_write(method.get(), send_to_socket);
  BIO_meth_set_read(method.get(), receive_from_socket);
  BIO_meth_set_ctrl(method.get(), control);
  return method;
}

BIO_METHOD* socket_method() {
  static const Method method = make_method();
  return method.get();
}

Context make_context() {
  Context context(SSL_CTX_new(TLS_client_method()));
  if (!context) throw Error(ErrorCode::failed, "OpenSSL does not start");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_default_verify_paths(context.get());
  // The queue of what to send grows, and may move, between two tries to write it.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  return context;
}

/// Reads the trusted certificates of the machine, which takes milliseconds: once.
SSL_CTX* client_context() {
  static const Context context = make_context();
  return context.get();
}

bool is_address(const std::string& host) {
  const std::unique_ptr<ASN1_OCTET_STRING, Freed<ASN1_OCTET_STRING_free>> address(
      a2i_IPADDRESS(host.c_str()));
  return address != nullptr;
}

}  // namespace

struct Tls::State {
  Session session;
};

Tls::Tls(int socket, const std::string& host) : state_(std::make_unique<State>()) {
  state_->session.reset(SSL_new(client_context()));
  BIO* bio = BIO_new(socket_method());
  if (!state_->session || bio == nullptr) throw Error(ErrorCode::failed, "no memory for TLS");
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  BIO_set_init(bio, 1);
  SSL* session = state_->session.get();
  SSL_set_bio(session, bio, bio);
  if (is_address(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str());
  } else {
    SSL_set1_host(session, host.c_str());
    SSL_set_tlsext_host_name(session, host.c_str());
  }
  SSL_set_connect_state(session);
}

Tls::~Tls() = default;

Transfer Tls::handshake() {
  ERR_clear_error();
  return after(SSL_do_handshake(state_->session.get()), 0);
}

Transfer Tls::read(std::span<char> room) {
  ERR_clear_error();
  std::size_t bytes = 0;
  const int result = SSL_read_ex(state_->session.get(), room.data(), room.size(), &bytes);
  return after(result, bytes);
}

Transfer Tls::write(std::string_view bytes) {
  ERR_clear_error();
  std::size_t written = 0;
  const int result = SSL_write_ex(state_->session.get(), bytes.data(), bytes.size(), &written);
  return after(result, written);
}

Transfer Tls::after(int result, std::size_t bytes) {
  if (result > 0) return {bytes, Transfer::Next::go_on};
  const int saved = errno;
  switch (SSL_get_error(state_->session.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {0, Transfer::Next::wait_read};
    case SSL_ERROR_WANT_WRITE:
      return {0, Transfer::Next::wait_write};
    case SSL_ERROR_ZERO_RETURN:
      return {0, Transfer::Next::end};
    default:
      break;
  }
  const unsigned long error = ERR_get_error();
  const char* reason = error != 0 ? ERR_reason_error_string(error) : nullptr;
  why_ = reason != nullptr ? reason : saved != 0 ? errno_text(saved) : "the connection was cut";
  const long verified = SSL_get_verify_result(state_->session.get());
  if (verified != X509_V_OK) why_ = why_ + ": " + X509_verify_cert_error_string(verified);
  return {0, Transfer::Next::failed};
}

}  // namespace tare::net
