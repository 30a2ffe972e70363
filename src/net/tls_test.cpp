#include "net/tls.hpp"

#include <cstdlib>
#include <filesystem>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fd.hpp"
#include "net/frame.hpp"
#include "net/handshake.hpp"
#include "net/loopback_for_tests.hpp"

namespace tare::net {
namespace {

using testing::HasSubstr;

struct Identity {
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> certificate;
};

/// A certificate that signs itself, for this subject alternative name: "IP:127.0.0.1".
Identity identity_of(const char* name) {
  Identity made{{EVP_EC_gen("P-256"), EVP_PKEY_free}, {X509_new(), X509_free}};
  X509* x = made.certificate.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -60);
  X509_gmtime_adj(X509_getm_notAfter(x), 3600);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(x, X509_get_subject_name(x));
  X509_set_pubkey(x, made.key.get());
  X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, name);
  X509_add_ext(x, names, -1);
  X509_EXTENSION_free(names);
  X509_sign(x, made.key.get(), EVP_sha256());
  return made;
}

const Identity& ours() {
  static const Identity identity = identity_of("IP:127.0.0.1");
  return identity;
}
const Identity& of_another() {
  static const Identity identity = identity_of("DNS:another.example");
  return identity;
}

/// Trusts these two, and only these, in this process.
class Tls : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    trusted_ = testing::TempDir() + "tare_tls_XXXXXX";
    const Fd fd(::mkstemp(trusted_.data()));
    const std::unique_ptr<FILE, int (*)(FILE*)> out(std::fopen(trusted_.c_str(), "w"), std::fclose);
    PEM_write_X509(out.get(), ours().certificate.get());
    PEM_write_X509(out.get(), of_another().certificate.get());
    ::setenv("SSL_CERT_FILE", trusted_.c_str(), 1);
    ::setenv("SSL_CERT_DIR", "/nonexistent", 1);
  }
  static void TearDownTestSuite() { std::filesystem::remove(trusted_); }
  static inline std::string trusted_;
  Loopback loop_;
};

/// Serves one connection on a thread: TLS, a request, this answer to it.
class SecureServer {
 public:
  using Answer = std::function<void(SSL*, const std::string& request)>;
  SecureServer(const Identity& identity, Answer answer)
      : acceptor_(io_, {asio::ip::address_v4::loopback(), 0}), port_(acceptor_.local_endpoint().port()) {
    thread_ = std::thread([this, &identity, answer = std::move(answer)] { serve(identity, answer); });
  }
  ~SecureServer() { thread_.join(); }
  Url url(const std::string& scheme) const { return {scheme, "127.0.0.1", port_, "/"}; }

 private:
  void serve(const Identity& identity, const Answer& answer) {
    asio::ip::tcp::socket socket = acceptor_.accept();
    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()),
                                                               SSL_CTX_free);
    SSL_CTX_use_certificate(context.get(), identity.certificate.get());
    SSL_CTX_use_PrivateKey(context.get(), identity.key.get());
    const std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context.get()), SSL_free);
    SSL_set_fd(ssl.get(), socket.native_handle());
    if (SSL_accept(ssl.get()) != 1) return;
    std::string request;
    char room[1000];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const int n = SSL_read(ssl.get(), room, sizeof room);
      if (n <= 0) return;
      request.append(room, static_cast<std::size_t>(n));
    }
    answer(ssl.get(), request);
  }

  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_;
  std::uint16_t port_;
  std::thread thread_;
};

void say(SSL* ssl, const std::string& text) {
  SSL_write(ssl, text.data(), static_cast<int>(text.size()));
}

std::string failure_of(Loopback& loop, const Url& url) {
  HttpClient client(loop.io, url, {.connect_time = 5s});
  try {
    loop.run(client.request({"GET", "/"}));
  } catch (const Error& error) {
    return error.line();
  }
  return "answered";
}

TEST_F(Tls, carries_large_bodies_both_ways) {
  const std::string large(3'000'000, 'x');
  std::size_t received = 0;
  SecureServer server(ours(), [&](SSL* ssl, const std::string& request) {
    received = request.size() - request.find("\r\n\r\n") - 4;
    char room[20'000];
    while (received < large.size())
      received += static_cast<std::size_t>(std::max(0, SSL_read(ssl, room, sizeof room)));
    say(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n");
    say(ssl, large);
    SSL_shutdown(ssl);
  });
  HttpClient client(loop_.io, server.url("https"), {});
  const Response response = loop_.run(client.request({"POST", "/", {}, large}));
  EXPECT_TRUE(response.body == large);
  EXPECT_EQ(received, large.size());
}

TEST_F(Tls, an_end_that_is_not_announced_cuts_a_body_without_a_length) {
  const std::string head = "HTTP/1.1 200 OK\r\n\r\nhalf";
  SecureServer cut(ours(), [&](SSL* ssl, const std::string&) { say(ssl, head); });
  EXPECT_THAT(failure_of(loop_, cut.url("https")), HasSubstr("broke"));
  SecureServer ended(ours(), [&](SSL* ssl, const std::string&) {
    say(ssl, head);
    SSL_shutdown(ssl);
  });
  EXPECT_EQ(failure_of(loop_, ended.url("https")), "answered");
}

TEST_F(Tls, a_certificate_of_another_name_or_of_nobody_trusted_is_refused) {
  const auto nothing = [](SSL*, const std::string&) {};
  SecureServer another(of_another(), nothing);
  EXPECT_EQ(failure_of(loop_, another.url("https")),
            "tare: no secure connection to 127.0.0.1 (certificate verify failed: IP address mismatch)");
  const Identity stranger = identity_of("IP:127.0.0.1");
  SecureServer unknown(stranger, nothing);
  EXPECT_THAT(failure_of(loop_, unknown.url("https")),
              HasSubstr("no secure connection to 127.0.0.1 (certificate verify failed"));
}

TEST_F(Tls, a_server_without_tls_is_told_apart) {
  HttpServer plain(loop_.io, "127.0.0.1", 0, {}, [](Exchange& exchange) { return exchange.respond({}); });
  EXPECT_THAT(failure_of(loop_, {"https", "127.0.0.1", plain.port(), "/"}),
              HasSubstr("no secure connection to 127.0.0.1"));
}

TEST_F(Tls, a_server_that_says_nothing_is_a_timeout) {
  asio::ip::tcp::acceptor silent(loop_.io, {asio::ip::address_v4::loopback(), 0});
  HttpClient client(loop_.io, {"https", "127.0.0.1", silent.local_endpoint().port(), "/"},
                    {.connect_time = 30ms});
  try {
    loop_.run(client.request({"GET", "/"}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::timeout);
  }
}

TEST_F(Tls, carries_a_websocket) {
  SecureServer server(ours(), [](SSL* ssl, const std::string& request) {
    const std::size_t key = request.find("Sec-WebSocket-Key: ") + 19;
    say(ssl,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "
        "Upgrade\r\nSec-WebSocket-Accept: " +
            accept_key(request.substr(key, 24)) + "\r\n\r\n");
    char room[1000];
    const int n = SSL_read(ssl, room, sizeof room);
    FrameReader reader(Role::server, 1000);
    std::string echo;
    append_frame(echo, Opcode::text, reader.read({room, static_cast<std::size_t>(n)}).data, {}, std::nullopt);
    for (const char byte : echo) say(ssl, std::string(1, byte));
    SSL_read(ssl, room, sizeof room);
  });
  loop_.run([](Loopback& loop, Url url) -> asio::awaitable<void> {
    WebSocket socket = co_await connect_websocket(loop.io, url, {}, {}, 5s);
    socket.send({nullptr, "over TLS"});
    EXPECT_EQ((co_await socket.read()).data, "over TLS");
  }(loop_, server.url("wss")));
}

}  // namespace
}  // namespace tare::net
