#pragma once

#include <cstdint>
#include <v8.h>

namespace tare::engine {

/// What the module bindings keep per realm. It lies in a JavaScript array that every context of the realm
/// points to, so that a snapshot can hold it and contexts of `vm` share it.
enum class ModuleSlot : std::uint32_t {
  wraps,             ///< Map: identity hash of a v8::Module → its ModuleWrap
  compiled,          ///< Array: what keep_code offers to the code cache
  packages,          ///< Map: path of a package.json → what is in it
  import_callback,   ///< setImportModuleDynamicallyCallback
  meta_callback,     ///< setInitializeImportMetaObjectCallback
  default_internal,  ///< symbol: import() of what the library compiled goes to the default loader
  no_contextify,     ///< symbol: vm.constants.DONT_CONTEXTIFY
  imported_cjs,      ///< symbol: where a ModuleWrap keeps the CommonJS module it stands for
  to_buffer,         ///< function: an ArrayBuffer as a Buffer
  warn,              ///< function: emits a warning at once
  module_wrap,       ///< the class ModuleWrap
  facade,            ///< the module that createRequiredModuleFacade instantiates
  context_template,  ///< ObjectTemplate of the globals of vm.createContext
  count
};

/// Makes the array and points `context` to it, unless it has one. Before anything else here.
void ensure_module_state(v8::Local<v8::Context> context);

/// Lets a context of `vm` share the state of the realm that made it.
void share_module_state(v8::Local<v8::Context> from, v8::Local<v8::Context> to);

v8::Local<v8::Value> module_state(v8::Local<v8::Context> context, ModuleSlot slot);
void set_module_state(v8::Local<v8::Context> context, ModuleSlot slot, v8::Local<v8::Value> value);

}  // namespace tare::engine
