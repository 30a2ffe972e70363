#pragma once

#include "engine/isolate/native.hpp"

namespace tare::engine {

/// indexOfString and indexOfBuffer: (buffer, value, offset, encoding, forward, end).
void index_of_string(const Arguments& args);
void index_of_buffer(const Arguments& args);
/// indexOfNumber: (buffer, value, offset, forward, end).
void index_of_number(const Arguments& args);

}  // namespace tare::engine
