#include "net/http.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::net {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

struct Scheme {
  std::string_view name;
  std::uint16_t port;
};
constexpr std::array<Scheme, 4> schemes{{{"http", 80}, {"https", 443}, {"ws", 80}, {"wss", 443}}};

bool is_token(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') ||
           marks.find(c) != std::string_view::npos;
  });
}

}  // namespace

std::optional<std::string_view> find(const Headers& headers, std::string_view name) {
  for (const Header& header : headers) {
    if (same_word(header.name, name)) return header.value;
  }
  return std::nullopt;
}

bool has_token(const Headers& headers, std::string_view name, std::string_view token) {
  for (const Header& header : headers) {
    if (!same_word(header.name, name)) continue;
    for (const std::string& word : text::split(header.value, ',')) {
      if (same_word(text::trim(word), token)) return true;
    }
  }
  return false;
}

std::string_view status_text(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Entity";
    case 426:
      return "Upgrade Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";
  }
}

void append_headers(std::string& out, const Headers& headers) {
  for (const Header& header : headers) {
    constexpr std::string_view breaks("\r\n\0", 3);
    if (!is_token(header.name) || header.value.find_first_of(breaks) != std::string::npos) {
      throw Error(ErrorCode::failed, fmt::format("'{}: {}' is not a header", header.name, header.value));
    }
    out.append(header.name).append(": ").append(header.value).append("\r\n");
  }
}

Url parse_url(std::string_view text, std::string_view what) {
  const auto refuse = [&](std::string_view why) -> Error {
    return Error(ErrorCode::input, fmt::format("{} is not a URL", what), fmt::format("{} in '{}'", why, text),
                 "http://HOST:PORT/PATH is one");
  };
  const std::size_t mark = text.find("://");
  if (mark == std::string_view::npos) throw refuse("no scheme");
  const auto scheme = std::find_if(schemes.begin(), schemes.end(),
                                   [&](const Scheme& s) { return same_word(s.name, text.substr(0, mark)); });
  if (scheme == schemes.end()) throw refuse("an unknown scheme");
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) throw refuse("a space or control character");
  }
  Url url{std::string(scheme->name), "", scheme->port, "/"};
  std::string_view rest = text.substr(mark + 3);
  rest = rest.substr(0, rest.find('#'));
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view place = rest.substr(0, end);
  if (end < rest.size()) url.path = rest[end] == '?' ? "/" + std::string(rest.substr(end)) : rest.substr(end);
  if (place.find('@') != std::string_view::npos) throw refuse("a user name, which is not supported,");
  std::string_view after;
  if (place.starts_with('[')) {
    const std::size_t close = place.find(']');
    if (close == std::string_view::npos) throw refuse("no ']'");
    url.host = place.substr(1, close - 1);
    after = place.substr(close + 1);
    if (!after.empty() && after.front() != ':') throw refuse("no ':' after ']'");
  } else {
    const std::size_t colon = std::min(place.find(':'), place.size());
    url.host = place.substr(0, colon);
    after = place.substr(colon);
  }
  if (url.host.empty()) throw refuse("no host");
  if (after.size() > 1) {
    const auto port = text::to_int(after.substr(1));
    if (!port || *port < 1 || *port > 65535) throw refuse("a bad port");
    url.port = static_cast<std::uint16_t>(*port);
  }
  return url;
}

std::string authority(const Url& url) {
  const bool v6 = url.host.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(v6 ? "[{}]:{}" : "{}:{}"), url.host, url.port);
}

}  // namespace tare::net
