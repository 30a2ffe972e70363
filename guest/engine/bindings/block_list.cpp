#include <arpa/inet.h>
#include <array>

#include "engine/bindings/support.hpp"

namespace tare::engine {
namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/// parse(address, whether it is of IPv6): its 16 bytes, those of IPv4 mapped to IPv6; undefined for no
/// address.
void parse_address(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const std::string text = to_string(isolate, args[0]);
  std::array<std::uint8_t, 16> bytes{};
  int parsed = 0;
  if (text.find('\0') != std::string::npos) return;
  if (args[1]->IsTrue()) {
    parsed = ::inet_pton(AF_INET6, text.c_str(), bytes.data());
  } else {
    std::copy(mapped_prefix.begin(), mapped_prefix.end(), bytes.begin());
    parsed = ::inet_pton(AF_INET, text.c_str(), bytes.data() + mapped_prefix.size());
  }
  v8::Local<v8::Uint8Array> result;
  if (parsed == 1 && make_bytes(isolate, bytes).ToLocal(&result)) args.GetReturnValue().Set(result);
}

/// format(the 16 bytes, whether it is of IPv6)
void format_address(const Arguments& args) {
  const Bytes bytes(args[0]);
  if (bytes.size() != 16) return;
  std::array<char, INET6_ADDRSTRLEN> text{};
  const char* formatted =
      args[1]->IsTrue() ? ::inet_ntop(AF_INET6, bytes.data(), text.data(), text.size())
                        : ::inet_ntop(AF_INET, bytes.data() + mapped_prefix.size(), text.data(), text.size());
  if (formatted != nullptr) args.GetReturnValue().Set(to_v8(args.GetIsolate(), formatted));
}

constexpr Native block_list_natives[] = {
    {"parse", parse_address},
    {"format", format_address},
};

}  // namespace

extern const Binding block_list_binding;
const Binding block_list_binding{"block_list", block_list_natives};

}  // namespace tare::engine
