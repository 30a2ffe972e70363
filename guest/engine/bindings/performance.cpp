#include <chrono>

#include "engine/bindings/support.hpp"
#include "engine/isolate/guest.hpp"

namespace tare::engine {
namespace {

/// now(): milliseconds since the process started; 0 while there is none.
void now(const Arguments& args) {
  Guest* guest = guest_of(args.GetIsolate());
  if (guest == nullptr) return args.GetReturnValue().Set(0);
  const std::chrono::duration<double, std::milli> since =
      std::chrono::steady_clock::now() - guest->process().started();
  args.GetReturnValue().Set(since.count());
}

/// origin(): [when the process started in microseconds since 1970, the same in nanoseconds of the steady
/// clock, that clock's time now].
void origin(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  Guest* guest = guest_of(isolate);
  const auto steady = std::chrono::steady_clock::now();
  const auto started = guest == nullptr ? Instant(steady) : guest->process().started();
  const std::chrono::duration<double, std::micro> wall =
      std::chrono::system_clock::now().time_since_epoch() - std::chrono::nanoseconds(steady - started);
  const auto nanoseconds = [&](Instant at) {
    return v8::Number::New(isolate, static_cast<double>(at.time_since_epoch().count()));
  };
  v8::Local<v8::Value> result[] = {v8::Number::New(isolate, wall.count()), nanoseconds(started),
                                   nanoseconds(steady)};
  args.GetReturnValue().Set(v8::Array::New(isolate, result, 3));
}

constexpr Native performance_natives[] = {{"now", now}, {"origin", origin}};

}  // namespace

extern const Binding performance_binding;
const Binding performance_binding{"performance", performance_natives};

}  // namespace tare::engine
