#pragma once

#include <string>
#include <string_view>
#include <v8.h>

namespace tare::engine {

/// Throws a SyntaxError with the property `code`.
void throw_syntax_error(v8::Isolate* isolate, std::string_view code, std::string_view message);

/// "file:line", the line, and carets below what is wrong; empty when V8 doesn't know it.
std::string error_source(v8::Isolate* isolate, v8::Local<v8::Context> context,
                         v8::Local<v8::Message> message);

/// Notes on the error where in the source it came from (its arrow message): who prints it puts that first.
void append_arrow(v8::Local<v8::Context> context, const v8::TryCatch& caught);

/// The same, and puts it before the stack at once.
void decorate(v8::Local<v8::Context> context, const v8::TryCatch& caught);

/// The symbols of Node's library that only it can see, by the names of its `privateSymbols`.
v8::Local<v8::Private> library_symbol(v8::Isolate* isolate, std::string_view name);

}  // namespace tare::engine
