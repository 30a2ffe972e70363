// host.kept_graph: graphs of ES modules that a context keeps beside its code, so that a later program finds
// the whole graph at once instead of asking for each module's path, package and source.

#include <algorithm>
#include <chrono>
#include <set>

#include <sys/stat.h>

#include "engine/bindings/support.hpp"
#include "engine/isolate/assignment.hpp"
#include "engine/isolate/guest.hpp"
#include "engine/isolate/native.hpp"
#include "engine/kernel/vm.hpp"
#include "engine/modules/graph_record.hpp"

namespace tare::engine {
namespace {

using v8::Local;
using v8::Value;

constexpr std::size_t most_modules = 4096;
constexpr std::size_t most_source_bytes = std::size_t{8} << 20;
constexpr std::uint64_t memory_device = 1;  ///< of files that are no mount's

CodeCache* cache_of(Guest& guest) {
  const Assignment* assignment = assignment_of(guest.process());
  const ContextSetup* context = assignment == nullptr ? nullptr : assignment->context();
  return context == nullptr || context->folder == nullptr ? nullptr : &context->folder->cache();
}

std::string id_of(std::string_view path) {
  return "guest graph:" + std::string(path);
}

kernel::FileSystem& files_of(Guest& guest) {
  return guest.process().vm()->files();
}

/// Of a file of the host. One of a machine's own memory could look the same in another machine.
std::optional<FileMark> mark_of(Guest& guest, const std::string& path) {
  const auto stat = files_of(guest).stat(guest.process().origin(), path);
  if (!stat.ok() || !S_ISREG(stat->mode) || stat->dev == memory_device) return std::nullopt;
  return FileMark{stat->dev, stat->ino, stat->size, stat->mtime_ns, stat->ctime_ns};
}

/// A file that was written a moment ago could be written once more without a sign of it.
bool is_settled(const FileMark& mark) {
  constexpr auto moment = std::chrono::milliseconds(50);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto newest = std::chrono::nanoseconds(std::max(mark.mtime_ns, mark.ctime_ns));
  return now - newest > moment;
}

bool is_absent(Guest& guest, const std::string& path) {
  const auto stat = files_of(guest).stat(guest.process().origin(), path);
  return !stat.ok() && (stat.error() == ENOENT || stat.error() == ENOTDIR);
}

bool still_holds(Guest& guest, const GraphRecord& graph) {
  return std::ranges::all_of(graph.modules,
                             [&](const auto& one) { return mark_of(guest, one.path) == one.mark; }) &&
         std::ranges::all_of(graph.packages, [&](const auto& one) {
           return one.mark ? mark_of(guest, one.path) == one.mark : is_absent(guest, one.path);
         });
}

Local<v8::Array> requests_of(v8::Isolate* isolate, const GraphRecord::Module& module) {
  std::vector<Local<Value>> values;
  for (const GraphRecord::Request& request : module.requests) {
    values.push_back(to_v8(isolate, request.specifier));
    if (const auto* index = std::get_if<std::uint32_t>(&request.target)) {
      values.push_back(v8::Integer::NewFromUnsigned(isolate, *index));
    } else {
      values.push_back(to_v8(isolate, std::get<std::string>(request.target)));
    }
  }
  return v8::Array::New(isolate, values.data(), values.size());
}

/// find(path) → [path, source, [specifier, index or URL, …], …], the root first; undefined when none is kept
/// for that path, or a file of it has changed.
void find(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  Guest* guest = guest_of(isolate);
  CodeCache* cache = guest == nullptr ? nullptr : cache_of(*guest);
  if (cache == nullptr) return;
  const auto bytes = cache->find(id_of(to_string(isolate, args[0])));
  if (bytes == nullptr) return;
  const auto graph = decode_graph({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  if (!graph || !still_holds(*guest, *graph)) return;
  std::vector<Local<Value>> values;
  for (const GraphRecord::Module& module : graph->modules) {
    values.push_back(to_v8(isolate, module.path));
    values.push_back(to_v8(isolate, module.source));
    values.push_back(requests_of(isolate, module));
  }
  assignment_of(guest->process())->count_graph();
  args.GetReturnValue().Set(v8::Array::New(isolate, values.data(), values.size()));
}

bool is_plain_text(std::string_view text) {
  return !text.starts_with("\xef\xbb\xbf") && text.find('\0') == std::string_view::npos;
}

/// The module's file as it is now. Nothing when it is none of the host's, or being changed.
std::optional<GraphRecord::Module> read_module(Guest& guest, std::string path) {
  const auto before = mark_of(guest, path);
  if (!before || !is_settled(*before)) return std::nullopt;
  auto source = files_of(guest).read_file(guest.process().origin(), path);
  if (!source.ok() || !is_plain_text(*source) || mark_of(guest, path) != before) return std::nullopt;
  return GraphRecord::Module{std::move(path), *before, std::move(*source), {}};
}

/// The package.json of each folder above, up to the first that is there, which decides what a .js file is.
bool add_packages(Guest& guest, std::string_view path, std::set<std::string>& seen, GraphRecord& graph) {
  for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos; slash = path.rfind('/')) {
    path = path.substr(0, slash);
    std::string package = std::string(path) + "/package.json";
    if (!seen.insert(package).second) return true;
    const auto mark = mark_of(guest, package);
    if (mark && !is_settled(*mark)) return false;
    if (!mark && !is_absent(guest, package)) return false;
    graph.packages.push_back({std::move(package), mark});
    if (mark) return true;
  }
  return true;
}

std::optional<std::vector<GraphRecord::Request>> read_requests(v8::Isolate* isolate,
                                                               Local<v8::Context> context,
                                                               Local<v8::Array> list) {
  std::vector<GraphRecord::Request> requests;
  for (std::uint32_t i = 0; i + 1 < list->Length(); i += 2) {
    Local<Value> specifier;
    Local<Value> target;
    if (!list->Get(context, i).ToLocal(&specifier) || !list->Get(context, i + 1).ToLocal(&target))
      return std::nullopt;
    if (target->IsUint32()) {
      requests.push_back({to_string(isolate, specifier), target.As<v8::Uint32>()->Value()});
    } else {
      requests.push_back({to_string(isolate, specifier), to_string(isolate, target)});
    }
  }
  return requests;
}

/// [path, [specifier, index or URL, …], …], the root first
std::optional<GraphRecord> read_graph(Guest& guest, Local<v8::Context> context, Local<v8::Array> list) {
  v8::Isolate* isolate = guest.realm().isolate();
  GraphRecord graph;
  std::set<std::string> seen;
  std::size_t bytes = 0;
  if (list->Length() / 2 > most_modules) return std::nullopt;
  for (std::uint32_t i = 0; i + 1 < list->Length(); i += 2) {
    Local<Value> path;
    Local<Value> requests;
    if (!list->Get(context, i).ToLocal(&path) || !list->Get(context, i + 1).ToLocal(&requests) ||
        !requests->IsArray())
      return std::nullopt;
    auto module = read_module(guest, to_string(isolate, path));
    auto wanted = read_requests(isolate, context, requests.As<v8::Array>());
    if (!module || !wanted) return std::nullopt;
    if (!module->path.ends_with(".mjs") && !add_packages(guest, module->path, seen, graph))
      return std::nullopt;
    bytes += module->source.size();
    if (bytes > most_source_bytes) return std::nullopt;
    module->requests = std::move(*wanted);
    graph.modules.push_back(std::move(*module));
  }
  return graph;
}

/// keep(path, list): see read_graph. What was kept for that path goes.
void keep(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  Guest* guest = guest_of(isolate);
  CodeCache* cache = guest == nullptr ? nullptr : cache_of(*guest);
  if (cache == nullptr || !args[1]->IsArray()) return;
  const auto graph = read_graph(*guest, isolate->GetCurrentContext(), args[1].As<v8::Array>());
  if (!graph) return;
  const std::string id = id_of(to_string(isolate, args[0]));
  const std::string bytes = encode(*graph);
  cache->reject(id);
  cache->offer(id, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

const Native kept_graph_natives[] = {{"find", find}, {"keep", keep}};

}  // namespace

extern const Binding kept_graph_binding{"kept_graph", kept_graph_natives};

}  // namespace tare::engine
