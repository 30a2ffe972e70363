#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What an HTTP/1.1 client and server share.
///
/// These have constructors, not braces alone: g++ 12 destroys an aggregate twice that is made within a
/// co_await expression (GCC bug 99576).
namespace tare::net {

struct Header {
  Header() = default;
  Header(std::string its_name, std::string its_value)
      : name(std::move(its_name)), value(std::move(its_value)) {}
  std::string name;
  std::string value;
};
using Headers = std::vector<Header>;

/// The value of the first header of that name, whatever its case. It lives as long as the headers.
std::optional<std::string_view> find(const Headers& headers, std::string_view name);

/// True when a header that is a list, such as `Connection: keep-alive, Upgrade`, has this word, whatever its
/// case.
bool has_token(const Headers& headers, std::string_view name, std::string_view token);

struct Request {
  Request() = default;
  Request(std::string its_method, std::string its_target, Headers its_headers = {}, std::string its_body = {})
      : method(std::move(its_method)),
        target(std::move(its_target)),
        headers(std::move(its_headers)),
        body(std::move(its_body)) {}
  std::string method = "GET";
  std::string target = "/";
  /// As a client sends them: without Host, Content-Length and Connection, which the connection writes. A
  /// server gets all of them.
  Headers headers;
  std::string body;
};

struct Response {
  Response() = default;
  Response(int its_status, Headers its_headers = {}, std::string its_body = {})
      : status(its_status), headers(std::move(its_headers)), body(std::move(its_body)) {}
  int status = 200;
  Headers
      headers;  ///< as a server sends them: without Content-Length, Transfer-Encoding, Date and Connection
  std::string body;
};

/// The usual words of a status: "Not Found"; empty for one that has none.
std::string_view status_text(int status);

/// Writes `name: value\r\n` of each. Throws Error(failed) for what would break out of its line.
void append_headers(std::string& out, const Headers& headers);

/// Where a server is: `http://127.0.0.1:8080/v1` is {"http", "127.0.0.1", 8080, "/v1"}.
struct Url {
  Url() = default;
  Url(std::string its_scheme, std::string its_host, std::uint16_t its_port, std::string its_path)
      : scheme(std::move(its_scheme)), host(std::move(its_host)), port(its_port), path(std::move(its_path)) {}
  std::string scheme;      ///< http, https, ws or wss
  std::string host;        ///< of an IPv6 address: without its brackets
  std::uint16_t port = 0;  ///< the scheme's own when the text names none
  std::string path;        ///< with the query, without a fragment; "/" when the text names none
};

/// Throws Error(input) naming `what`: "--provider-url is not a URL (no host in 'http://')".
Url parse_url(std::string_view text, std::string_view what);

/// "127.0.0.1:8080" or "[::1]:8080".
std::string authority(const Url& url);

}  // namespace tare::net
