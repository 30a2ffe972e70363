#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

/// The URL parser of the Node that hosts this, by the C names under which it is exported. Its header doesn't
/// come with Node.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
struct ada_string {
  const char* data;
  std::size_t length;
};
struct ada_owned_string {
  const char* data;
  std::size_t length;
};
struct ada_url_components {
  std::uint32_t protocol_end;
  std::uint32_t username_end;
  std::uint32_t host_start;
  std::uint32_t host_end;
  std::uint32_t port;
  std::uint32_t pathname_start;
  std::uint32_t search_start;
  std::uint32_t hash_start;
};
using ada_url = void*;

ada_url ada_parse(const char* input, std::size_t length);
ada_url ada_parse_with_base(const char* input, std::size_t length, const char* base, std::size_t base_length);
bool ada_can_parse(const char* input, std::size_t length);
bool ada_can_parse_with_base(const char* input, std::size_t length, const char* base,
                             std::size_t base_length);
void ada_free(ada_url url);
void ada_free_owned_string(ada_owned_string text);
bool ada_is_valid(ada_url url);
ada_owned_string ada_get_origin(ada_url url);
ada_string ada_get_href(ada_url url);
ada_string ada_get_hostname(ada_url url);
std::uint8_t ada_get_scheme_type(ada_url url);
const ada_url_components* ada_get_components(ada_url url);
bool ada_set_href(ada_url url, const char* input, std::size_t length);
bool ada_set_host(ada_url url, const char* input, std::size_t length);
bool ada_set_hostname(ada_url url, const char* input, std::size_t length);
bool ada_set_protocol(ada_url url, const char* input, std::size_t length);
bool ada_set_username(ada_url url, const char* input, std::size_t length);
bool ada_set_password(ada_url url, const char* input, std::size_t length);
bool ada_set_port(ada_url url, const char* input, std::size_t length);
bool ada_set_pathname(ada_url url, const char* input, std::size_t length);
void ada_set_search(ada_url url, const char* input, std::size_t length);
void ada_set_hash(ada_url url, const char* input, std::size_t length);
void ada_clear_hash(ada_url url);
void ada_clear_search(ada_url url);
ada_owned_string ada_idna_to_ascii(const char* input, std::size_t length);
ada_owned_string ada_idna_to_unicode(const char* input, std::size_t length);
}
// NOLINTEND(readability-identifier-naming)

namespace tare::engine {

struct FreeUrl {
  void operator()(void* url) const { ada_free(url); }
};
using Url = std::unique_ptr<void, FreeUrl>;

inline std::string_view view(ada_string text) {
  return {text.data, text.length};
}

inline std::string take(ada_owned_string text) {
  std::string copy(text.data == nullptr ? "" : std::string_view(text.data, text.length));
  ada_free_owned_string(text);
  return copy;
}

}  // namespace tare::engine
