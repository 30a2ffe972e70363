#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What an HTTP/1.1 client and server share.
namespace tare::net {

struct Header {
  std::string name;
  std::string value;
};
using Headers = std::vector<Header>;

/// The first header of that name, whatever its case.
std::optional<std::string_view> find(const Headers& headers, std::string_view name);

struct Request {
  std::string method = "GET";
  std::string target = "/";
  Headers headers;  ///< without Host, Content-Length and Connection, which the connection writes
  std::string body;
};

struct Response {
  int status = 200;
  Headers headers;  ///< without Content-Length, Date and Connection
  std::string body;
};

/// Where a server is: `http://127.0.0.1:8080/v1` is {"http", "127.0.0.1", 8080, "/v1"}.
struct Url {
  std::string scheme;  ///< http, https, ws or wss
  std::string host;
  std::uint16_t port = 0;  ///< the scheme's own when the text names none
  std::string path;        ///< with the query; "/" when the text names none
};

/// Throws Error(input) naming `what`: "--provider-url is not a URL (no host in 'http://')".
Url parse_url(std::string_view text, std::string_view what);

}  // namespace tare::net
