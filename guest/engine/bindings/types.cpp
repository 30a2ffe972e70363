#include "engine/isolate/native.hpp"

namespace tare::engine {
namespace {

template <bool (v8::Value::*is)() const>
void test(const Arguments& args) {
  const v8::Local<v8::Value> value = args[0];
  args.GetReturnValue().Set(((*value)->*is)());
}

void is_any_array_buffer(const Arguments& args) {
  args.GetReturnValue().Set(args[0]->IsArrayBuffer() || args[0]->IsSharedArrayBuffer());
}

void is_boxed_primitive(const Arguments& args) {
  const v8::Local<v8::Value> value = args[0];
  args.GetReturnValue().Set(value->IsNumberObject() || value->IsStringObject() || value->IsBooleanObject() ||
                            value->IsBigIntObject() || value->IsSymbolObject());
}

constexpr Native types_natives[] = {
    {"isArgumentsObject", test<&v8::Value::IsArgumentsObject>},
    {"isArrayBuffer", test<&v8::Value::IsArrayBuffer>},
    {"isAsyncFunction", test<&v8::Value::IsAsyncFunction>},
    {"isBigIntObject", test<&v8::Value::IsBigIntObject>},
    {"isBooleanObject", test<&v8::Value::IsBooleanObject>},
    {"isDate", test<&v8::Value::IsDate>},
    {"isExternal", test<&v8::Value::IsExternal>},
    {"isGeneratorFunction", test<&v8::Value::IsGeneratorFunction>},
    {"isGeneratorObject", test<&v8::Value::IsGeneratorObject>},
    {"isMap", test<&v8::Value::IsMap>},
    {"isMapIterator", test<&v8::Value::IsMapIterator>},
    {"isModuleNamespaceObject", test<&v8::Value::IsModuleNamespaceObject>},
    {"isNativeError", test<&v8::Value::IsNativeError>},
    {"isNumberObject", test<&v8::Value::IsNumberObject>},
    {"isPromise", test<&v8::Value::IsPromise>},
    {"isProxy", test<&v8::Value::IsProxy>},
    {"isRegExp", test<&v8::Value::IsRegExp>},
    {"isSet", test<&v8::Value::IsSet>},
    {"isSetIterator", test<&v8::Value::IsSetIterator>},
    {"isSharedArrayBuffer", test<&v8::Value::IsSharedArrayBuffer>},
    {"isStringObject", test<&v8::Value::IsStringObject>},
    {"isSymbolObject", test<&v8::Value::IsSymbolObject>},
    {"isWeakMap", test<&v8::Value::IsWeakMap>},
    {"isWeakSet", test<&v8::Value::IsWeakSet>},
    {"isAnyArrayBuffer", is_any_array_buffer},
    {"isBoxedPrimitive", is_boxed_primitive},
};

}  // namespace

extern const Binding types_binding;
const Binding types_binding{"types", types_natives};

}  // namespace tare::engine
