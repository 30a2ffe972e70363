#pragma once

#include "engine/isolate/native.hpp"

namespace tare::engine {

/// What only the boot code may use: compile, text, privateSymbol, ready, setPromiseHooks.
extern const Binding kit_binding;

}  // namespace tare::engine
