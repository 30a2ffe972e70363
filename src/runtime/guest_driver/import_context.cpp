#include "runtime/guest_driver/import_context.hpp"

#include "runtime/guest_driver/lane.hpp"

namespace tare::guest_driver {
namespace {

constexpr const char* import_home = "/root";
/// Compilers are large. Other rows have the engine's own limit: a pool holds isolates of that alone.
constexpr std::uint64_t package_heap_bytes = std::uint64_t{512} << 20;

guest::VmOptions import_machine(const ImportPlace& place) {
  guest::VmOptions options = vm_options();
  options.cwd = import_home;
  options.mounts.push_back({place.bench.string(), "/root/bench", guest::MountAccess::ro});
  if (place.node_modules) {
    options.limits.memory_bytes = package_heap_bytes;
    options.mounts.push_back({place.node_modules->string(), "/root/node_modules", guest::MountAccess::ro});
  }
  return options;
}

guest::ContextOptions import_options(const ImportPlace& place) {
  guest::ContextOptions options;
  options.code_cache = place.cache ? guest::CodeCacheMode::folder : guest::CodeCacheMode::off;
  if (place.cache) options.compile_cache_dir = place.cache->string();
  return options;
}

}  // namespace

guest::EngineOptions import_engine(guest::EngineOptions options, const ImportPlace& place,
                                   std::uint32_t pool) {
  options.pool = pool;
  // An isolate is made the faster the less is in it, and serves the longer the more is.
  options.library = pool == 0 ? guest::Library::modules : guest::Library::large;
  options.readable_roots.push_back(place.bench);
  if (place.node_modules) options.readable_roots.push_back(*place.node_modules);
  if (place.cache) options.cache_roots.push_back(*place.cache);
  return options;
}

ImportContext::ImportContext(guest::Engine& engine, const ImportPlace& place)
    : machine_(engine.create_vm(import_machine(place), import_options(place))) {}

guest::Execution ImportContext::spawn(const std::string& entry) {
  guest::SpawnOptions options;
  options.argv = {"node", entry};
  options.stdio = guest::Stdio::pipe;
  return machine_.second.spawn(options);
}

void count_context(const guest::Exit& exit, Sample& sample) {
  if (exit.code_cache) {
    sample.counters["cacheAccepted"] = static_cast<std::int64_t>(exit.code_cache->accepted);
    sample.counters["cacheRejected"] = static_cast<std::int64_t>(exit.code_cache->rejected);
    sample.counters["cacheMissed"] = static_cast<std::int64_t>(exit.code_cache->missed);
  }
  sample.counters["pooled"] = exit.pooled ? 1 : 0;
}

}  // namespace tare::guest_driver
