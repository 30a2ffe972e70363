#include <array>
#include <cstring>

#include "engine/bindings/ada.hpp"
#include "engine/bindings/support.hpp"

namespace tare::engine {
namespace {

void throw_invalid_url(const Arguments& args, std::optional<std::string_view> input,
                       std::optional<std::string_view> base) {
  v8::Isolate* isolate = args.GetIsolate();
  const v8::Local<v8::Object> error = make_error(isolate, ErrorKind::type, "ERR_INVALID_URL", "Invalid URL");
  if (input) set(isolate, error, "input", to_v8(isolate, *input));
  if (base) set(isolate, error, "base", to_v8(isolate, *base));
  isolate->ThrowException(error);
}

Url parsed(std::string_view input, std::optional<std::string_view> base) {
  Url url(base ? ada_parse_with_base(input.data(), input.size(), base->data(), base->size())
               : ada_parse(input.data(), input.size()));
  if (url != nullptr && !ada_is_valid(url.get())) url.reset();
  return url;
}

/// The address as text, and where its parts are in `places`, the library's Uint32Array of nine.
void answer(const Arguments& args, const Url& url, v8::Local<v8::Value> places) {
  const ada_url_components* parts = ada_get_components(url.get());
  const std::array<std::uint32_t, 9> numbers{
      parts->protocol_end, parts->username_end, parts->host_start,
      parts->host_end,     parts->port,         parts->pathname_start,
      parts->search_start, parts->hash_start,   ada_get_scheme_type(url.get())};
  const std::span<std::uint8_t> memory = memory_of(places);
  if (memory.size() >= sizeof numbers) std::memcpy(memory.data(), numbers.data(), sizeof numbers);
  args.GetReturnValue().Set(to_v8(args.GetIsolate(), view(ada_get_href(url.get()))));
}

/// parse(input, base, whether to throw, places)
void parse(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const std::string input = to_string(isolate, args[0]);
  std::optional<std::string> base;
  if (args[1]->IsString()) base = to_string(isolate, args[1]);
  const Url url = parsed(input, base);
  if (url != nullptr) return answer(args, url, args[3]);
  if (args[2]->IsTrue()) throw_invalid_url(args, input, base);
}

/// canParse(input, base)
void can_parse(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const std::string input = to_string(isolate, args[0]);
  if (!args[1]->IsString()) return args.GetReturnValue().Set(ada_can_parse(input.data(), input.size()));
  const std::string base = to_string(isolate, args[1]);
  args.GetReturnValue().Set(ada_can_parse_with_base(input.data(), input.size(), base.data(), base.size()));
}

using Setter = bool (*)(ada_url url, const char* input, std::size_t length);

bool set_search(ada_url url, const char* input, std::size_t length) {
  ada_set_search(url, input, length);
  return true;
}

bool set_hash(ada_url url, const char* input, std::size_t length) {
  ada_set_hash(url, input, length);
  return true;
}

/// update(href, which part, value, places): the new address, or false.
void update(const Arguments& args) {
  static constexpr Setter setters[] = {ada_set_protocol, ada_set_host,     ada_set_hostname, ada_set_port,
                                       ada_set_username, ada_set_password, ada_set_pathname, set_search,
                                       set_hash,         ada_set_href};
  v8::Isolate* isolate = args.GetIsolate();
  const std::string href = to_string(isolate, args[0]);
  const std::uint32_t part = args[1]->Uint32Value(isolate->GetCurrentContext()).FromMaybe(UINT32_MAX);
  const std::string value = to_string(isolate, args[2]);
  const Url url = parsed(href, std::nullopt);
  if (url == nullptr || part >= std::size(setters) || !setters[part](url.get(), value.data(), value.size()))
    return args.GetReturnValue().Set(false);
  answer(args, url, args[3]);
}

/// format(href, fragment, unicode, search, auth): the address without what isn't asked for.
void format(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Url url = parsed(to_string(isolate, args[0]), std::nullopt);
  if (url == nullptr) return args.GetReturnValue().Set(args[0]);
  if (args[1]->IsFalse()) ada_clear_hash(url.get());
  if (args[3]->IsFalse()) ada_clear_search(url.get());
  if (args[4]->IsFalse()) {
    ada_set_username(url.get(), "", 0);
    ada_set_password(url.get(), "", 0);
  }
  std::string href(view(ada_get_href(url.get())));
  const std::string_view host = view(ada_get_hostname(url.get()));
  if (args[2]->IsTrue() && !host.empty()) {
    // In place: setting it as the host would make it ASCII again.
    const std::size_t start = ada_get_components(url.get())->host_start;
    const std::size_t at = start < href.size() && href[start] == '@' ? start + 1 : start;
    href.replace(at, host.size(), take(ada_idna_to_unicode(host.data(), host.size())));
  }
  args.GetReturnValue().Set(to_v8(isolate, href));
}

void get_origin(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Url url = parsed(to_string(isolate, args[0]), std::nullopt);
  if (url == nullptr) return throw_invalid_url(args, std::nullopt, std::nullopt);
  args.GetReturnValue().Set(to_v8(isolate, take(ada_get_origin(url.get()))));
}

enum class PathKind { posix, windows };

/// What a path may contain and an address would take for something else.
std::string escape_path(std::string_view path, PathKind kind) {
  constexpr std::string_view special = "%\\\n\r\t?#[]^|~";
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    if (kind == PathKind::windows && c == '\\') {
      out += '/';
    } else if (special.find(c) == std::string_view::npos) {
      out += c;
    } else {
      out += '%';
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[c & 15];
    }
  }
  return out;
}

/// pathToFileURL(path, places, whether it is one of Windows, its host)
void path_to_file_url(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const PathKind kind = args[2]->IsTrue() ? PathKind::windows : PathKind::posix;
  const std::string path = to_string(isolate, args[0]);
  const Url url = parsed("file://" + escape_path(path, kind), std::nullopt);
  if (url == nullptr) return throw_invalid_url(args, path, std::nullopt);
  if (kind == PathKind::windows && args[3]->IsString()) {
    const std::string host = to_string(isolate, args[3]);
    if (!ada_set_hostname(url.get(), host.data(), host.size()))
      return throw_invalid_url(args, host, std::nullopt);
  }
  answer(args, url, args[1]);
}

/// Through an address, so that what no host can be becomes nothing.
template <ada_owned_string (*convert)(const char*, std::size_t)>
void convert_domain(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const std::string name = to_string(isolate, args[0]);
  const Url url = parsed("ws://x", std::nullopt);
  if (name.empty() || url == nullptr || !ada_set_hostname(url.get(), name.data(), name.size()))
    return args.GetReturnValue().SetEmptyString();
  const std::string_view host = view(ada_get_hostname(url.get()));
  args.GetReturnValue().Set(to_v8(isolate, take(convert(host.data(), host.size()))));
}

constexpr Native url_natives[] = {
    {"parse", parse},
    {"canParse", can_parse},
    {"update", update},
    {"format", format},
    {"getOrigin", get_origin},
    {"pathToFileURL", path_to_file_url},
    {"domainToASCII", convert_domain<ada_idna_to_ascii>},
    {"domainToUnicode", convert_domain<ada_idna_to_unicode>},
};

}  // namespace

extern const Binding url_binding;
const Binding url_binding{"url", url_natives};

}  // namespace tare::engine
