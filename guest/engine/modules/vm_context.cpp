#include "engine/modules/vm_context.hpp"

#include "engine/bindings/support.hpp"
#include "engine/modules/arrow.hpp"

namespace tare::engine {

using v8::Local;

void make_context(const Arguments& args) {
  throw_error(args.GetIsolate(), ErrorKind::error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
              "vm.createContext has no counterpart in a guest");
}

Local<v8::Context> context_of(Local<v8::Context> current, Local<v8::Object>) {
  return current;
}

void run_microtasks_of(Local<v8::Context>) {}

}  // namespace tare::engine
