#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <v8.h>
#include <vector>

#include "engine/isolate/pack.hpp"

/// The functions that the JavaScript of guest/compat gets from here.
namespace tare::engine {

using Arguments = v8::FunctionCallbackInfo<v8::Value>;

/// One function. It must not let a C++ exception out.
struct Native {
  const char* name;
  v8::FunctionCallback call;
};

/// The natives of one of Node's bindings, kit.natives(NAME) in JavaScript. A snapshot names functions by
/// their place among all natives: the order must be the same in every process, which is why they are listed
/// in one table.
struct Binding {
  const char* name;
  std::span<const Native> natives;
  /// Adds what isn't a plain function, such as a class; may be null.
  void (*extend)(v8::Isolate* isolate, v8::Local<v8::Context> context,
                 v8::Local<v8::Object> binding) = nullptr;
  /// The addresses that `extend` gives to V8.
  std::span<const std::intptr_t> references = {};
};

/// Every binding there is, in the order of the snapshot.
std::span<const Binding* const> all_bindings();

/// The natives of one binding as an object.
v8::Local<v8::Object> make_members(v8::Isolate* isolate, v8::Local<v8::Context> context,
                                   const Binding& binding);

/// Null when there is no such binding.
const Binding* find_binding(std::string_view name);

/// What V8 may find in a snapshot of ours: the natives, then the texts of the pack; ends with 0. To be called
/// once per process; valid for as long as it lives.
std::vector<std::intptr_t> external_references(const Pack& pack);

// Short words for what every native does.

inline v8::Local<v8::String> to_v8(v8::Isolate* isolate, std::string_view text) {
  return v8::String::NewFromUtf8(isolate, text.data(), v8::NewStringType::kNormal,
                                 static_cast<int>(text.size()))
      .ToLocalChecked();
}

/// A name of a member: one string per isolate, whatever how often it is asked for.
inline v8::Local<v8::String> key(v8::Isolate* isolate, std::string_view name) {
  return v8::String::NewFromUtf8(isolate, name.data(), v8::NewStringType::kInternalized,
                                 static_cast<int>(name.size()))
      .ToLocalChecked();
}

/// The value as UTF-8; empty when its conversion throws.
inline std::string to_string(v8::Isolate* isolate, v8::Local<v8::Value> value) {
  const v8::String::Utf8Value text(isolate, value);
  return *text == nullptr ? std::string() : std::string(*text, static_cast<std::size_t>(text.length()));
}

}  // namespace tare::engine
