// internalBinding('modules'): package.json as the loaders ask for it. A file is read once per process, as in
// Node.
#include <array>

#include <fmt/format.h>

#include "engine/bindings/support.hpp"
#include "engine/isolate/guest.hpp"
#include "engine/isolate/native.hpp"
#include "engine/kernel/vm.hpp"
#include "engine/modules/package_config.hpp"
#include "engine/modules/state.hpp"

namespace tare::engine {
namespace {

using v8::Local;
using v8::MaybeLocal;
using v8::Value;

constexpr std::string_view file_name = "/package.json";

/// Who asked for a package.json, for the error about it.
struct Asker {
  std::string base;
  std::string specifier;
};

void throw_invalid(v8::Isolate* isolate, const std::string& path, const Asker* asker) {
  const std::string where = asker == nullptr || asker->base.empty()
                                ? std::string()
                                : fmt::format(" while importing \"{}\" from {}", asker->specifier,
                                              file_url_path(asker->base).value_or(asker->base));
  throw_error(isolate, ErrorKind::error, "ERR_INVALID_PACKAGE_CONFIG",
              fmt::format("Invalid package config {}{}.", path, where));
}

bool is_json(v8::Isolate* isolate, Local<v8::Context> context, const std::string& text) {
  const v8::TryCatch quiet(isolate);
  return !v8::JSON::Parse(context, to_v8(isolate, text)).IsEmpty();
}

/// Whether exports or imports can be read when they are asked for.
bool is_sound(v8::Isolate* isolate, Local<v8::Context> context, const std::optional<std::string>& targets) {
  return !targets || targets->empty() || (targets->front() != '{' && targets->front() != '[') ||
         is_json(isolate, context, *targets);
}

Local<Value> text_or_undefined(v8::Isolate* isolate, const std::optional<std::string>& text) {
  if (text) return to_v8(isolate, *text);
  return v8::Undefined(isolate);
}

std::string_view type_name(PackageConfig::Type type) {
  switch (type) {
    case PackageConfig::Type::module:
      return "module";
    case PackageConfig::Type::commonjs:
      return "commonjs";
    case PackageConfig::Type::none:
      break;
  }
  return "none";
}

/// [name, main, type, imports, exports, path]; undefined when there is no such file, empty when it is broken
/// (then that has been thrown).
MaybeLocal<Value> config_of(Local<v8::Context> context, const std::string& path, const Asker* asker) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  const auto cache = module_state(context, ModuleSlot::packages).As<v8::Map>();
  const Local<v8::String> name = to_v8(isolate, path);
  Local<Value> known;
  if (!cache->Get(context, name).ToLocal(&known)) return {};
  if (!known->IsUndefined()) return known;
  Guest* guest = guest_of(isolate);
  if (guest == nullptr) return v8::Undefined(isolate).As<Value>();
  const auto text = guest->process().vm()->files().read_file(guest->process().origin(), path);
  if (!text.ok()) return v8::Undefined(isolate).As<Value>();
  const std::optional<PackageConfig> config = parse_package_config(*text);
  if (!config || !is_sound(isolate, context, config->exports) ||
      !is_sound(isolate, context, config->imports)) {
    throw_invalid(isolate, path, asker);
    return {};
  }
  std::array<Local<Value>, 6> members{
      text_or_undefined(isolate, config->name),    text_or_undefined(isolate, config->main),
      key(isolate, type_name(config->type)),       text_or_undefined(isolate, config->imports),
      text_or_undefined(isolate, config->exports), name};
  const Local<v8::Array> made = v8::Array::New(isolate, members.data(), members.size());
  if (cache->Set(context, name, made).IsEmpty()) return {};
  return made.As<Value>();
}

/// readPackageJSON(path, isESM, base, specifier)
void read_package_json(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  Asker asker;
  if (args[1]->IsTrue() && args[2]->IsString())
    asker = {to_string(isolate, args[2]), to_string(isolate, args[3])};
  Local<Value> config;
  if (config_of(isolate->GetCurrentContext(), to_string(isolate, args[0]), &asker).ToLocal(&config))
    args.GetReturnValue().Set(config);
}

/// The package.json of the directories above `path`, up to the root or a node_modules.
MaybeLocal<Value> nearest(Local<v8::Context> context, std::string_view path) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  std::size_t slash = path.rfind('/');
  while (slash != std::string_view::npos) {
    const std::string_view directory = path.substr(0, slash);
    if (directory.ends_with("/node_modules")) break;
    Local<Value> config;
    if (!config_of(context, std::string(directory) + std::string(file_name), nullptr).ToLocal(&config))
      return {};
    if (!config->IsUndefined()) return config;
    if (directory.empty()) break;
    path = directory;
    slash = path.rfind('/');
  }
  return v8::Undefined(isolate).As<Value>();
}

Local<Value> type_of(Local<v8::Context> context, Local<Value> config) {
  constexpr std::uint32_t type_index = 2;
  if (!config->IsArray()) return v8::Undefined(v8::Isolate::GetCurrent());
  return config.As<v8::Array>()->Get(context, type_index).ToLocalChecked();
}

void nearest_package_json(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  Local<Value> config;
  if (nearest(isolate->GetCurrentContext(), to_string(isolate, args[0])).ToLocal(&config))
    args.GetReturnValue().Set(config);
}

void nearest_package_json_type(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  Local<Value> config;
  if (nearest(context, to_string(isolate, args[0])).ToLocal(&config))
    args.GetReturnValue().Set(type_of(context, config));
}

/// As the URL parser refuses what has no path to go up from.
void throw_invalid_url(v8::Isolate* isolate, const std::string& url) {
  const Local<v8::Object> error = make_error(isolate, ErrorKind::type, "ERR_INVALID_URL", "Invalid URL");
  const std::size_t colon = url.find(':');
  const bool opaque = colon != std::string::npos && !std::string_view(url).substr(colon + 1).starts_with('/');
  set(isolate, error, "input", to_v8(isolate, opaque ? "./package.json" : url));
  if (opaque) set(isolate, error, "base", to_v8(isolate, url));
  isolate->ThrowException(error);
}

/// The package.json of a URL's scope: its tuple, or the path at which the search ended, as text.
MaybeLocal<Value> scope_of(Local<v8::Context> context, const std::string& url) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  const std::optional<std::string> path = file_url_path(url);
  if (!path) {
    throw_invalid_url(isolate, url);
    return {};
  }
  std::string_view directory = std::string_view(*path).substr(0, path->rfind('/'));
  while (true) {
    const std::string file = std::string(directory) + std::string(file_name);
    const bool last = directory.empty() || directory.ends_with("/node_modules");
    // The search does not look into a node_modules itself.
    if (!directory.ends_with("/node_modules")) {
      Local<Value> config;
      if (!config_of(context, file, nullptr).ToLocal(&config)) return {};
      if (!config->IsUndefined()) return config;
    }
    if (last) return to_v8(isolate, file).As<Value>();
    directory = directory.substr(0, directory.rfind('/'));
  }
}

void package_scope_config(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  Local<Value> found;
  if (scope_of(isolate->GetCurrentContext(), to_string(isolate, args[0])).ToLocal(&found))
    args.GetReturnValue().Set(found);
}

void package_type(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  Local<Value> found;
  if (scope_of(context, to_string(isolate, args[0])).ToLocal(&found))
    args.GetReturnValue().Set(type_of(context, found));
}

/// import.meta.dirname and import.meta.filename: few ask for them.
void path_helper(Local<v8::Name> name, const v8::PropertyCallbackInfo<Value>& info) {
  v8::Isolate* isolate = info.GetIsolate();
  std::string path = file_url_path(to_string(isolate, info.Data())).value_or(std::string());
  if (to_string(isolate, name) == "dirname")
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  info.GetReturnValue().Set(to_v8(isolate, path));
}

/// setLazyPathHelpers(meta, url)
void set_lazy_path_helpers(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  const auto meta = args[0].As<v8::Object>();
  for (const std::string_view name : {"dirname", "filename"}) {
    if (meta->SetLazyDataProperty(context, key(isolate, name), path_helper, args[1]).IsNothing()) return;
  }
}

/// enableCompileCache(): [DISABLED]. The engine has a cache of its own.
void enable_compile_cache(const Arguments& args) {
  constexpr int disabled = 3;
  v8::Isolate* isolate = args.GetIsolate();
  Local<Value> status = v8::Integer::New(isolate, disabled);
  args.GetReturnValue().Set(v8::Array::New(isolate, &status, 1));
}

void no_cache(const Arguments&) {}

const Native modules_natives[] = {
    {"readPackageJSON", read_package_json},
    {"getNearestParentPackageJSON", nearest_package_json},
    {"getNearestParentPackageJSONType", nearest_package_json_type},
    {"getPackageScopeConfig", package_scope_config},
    {"getPackageType", package_type},
    {"setLazyPathHelpers", set_lazy_path_helpers},
    {"enableCompileCache", enable_compile_cache},
    {"getCompileCacheDir", no_cache},
    {"flushCompileCache", no_cache},
    {"getCompileCacheEntry", no_cache},
    {"saveCompileCacheEntry", no_cache},
};

void extend_modules(v8::Isolate*, Local<v8::Context> context, Local<v8::Object>) {
  ensure_module_state(context);
}

}  // namespace

extern const Binding modules_binding{"modules", modules_natives, extend_modules};

}  // namespace tare::engine
