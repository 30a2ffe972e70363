#include <array>
#include <cstring>
#include <v8-profiler.h>
#include <vector>

#include "engine/bindings/support.hpp"

namespace tare::engine {
namespace {

template <std::size_t count>
void fill(const Arguments& args, const std::array<std::size_t, count>& numbers) {
  std::array<double, count> values;
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(numbers[i]);
  const std::span<std::uint8_t> memory = memory_of(args[0]);
  if (memory.size() >= sizeof values) std::memcpy(memory.data(), values.data(), sizeof values);
}

/// heap(Float64Array of 14), in the order of the library's indices.
void heap(const Arguments& args) {
  v8::HeapStatistics now;
  args.GetIsolate()->GetHeapStatistics(&now);
  fill<14>(args,
           {now.total_heap_size(), now.total_heap_size_executable(), now.total_physical_size(),
            now.total_available_size(), now.used_heap_size(), now.heap_size_limit(), now.malloced_memory(),
            now.peak_malloced_memory(), static_cast<std::size_t>(now.does_zap_garbage()),
            now.number_of_native_contexts(), now.number_of_detached_contexts(),
            now.total_global_handles_size(), now.used_global_handles_size(), now.external_memory()});
}

void code(const Arguments& args) {
  v8::HeapCodeStatistics now;
  args.GetIsolate()->GetHeapCodeAndMetadataStatistics(&now);
  fill<4>(args, {now.code_and_metadata_size(), now.bytecode_and_metadata_size(),
                 now.external_script_source_size(), now.cpu_profiler_metadata_size()});
}

/// space(Float64Array of 4, which)
void space(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  v8::HeapSpaceStatistics now;
  const std::uint32_t index = args[1]->Uint32Value(isolate->GetCurrentContext()).FromMaybe(0);
  if (index >= isolate->NumberOfHeapSpaces() || !isolate->GetHeapSpaceStatistics(&now, index)) return;
  fill<4>(args,
          {now.space_size(), now.space_used_size(), now.space_available_size(), now.physical_space_size()});
}

void is_string_one_byte(const Arguments& args) {
  args.GetReturnValue().Set(args[0]->IsString() && args[0].As<v8::String>()->IsOneByte());
}

void cached_data_version_tag(const Arguments& args) {
  args.GetReturnValue().Set(v8::ScriptCompiler::CachedDataVersionTag());
}

/// Objects that inherit from one.
class Heirs final : public v8::QueryObjectPredicate {
 public:
  explicit Heirs(v8::Local<v8::Value> prototype) : prototype_(prototype) {}

  bool Filter(v8::Local<v8::Object> object) override {
    v8::Local<v8::Value> above = object->GetPrototypeV2();
    // A proxy says itself what is above it: its program would run in the midst of a collection.
    while (above->IsObject() && !above->IsProxy()) {
      if (above->StrictEquals(prototype_)) return true;
      above = above.As<v8::Object>()->GetPrototypeV2();
    }
    return false;
  }

 private:
  v8::Local<v8::Value> prototype_;
};

/// queryObjects(prototype): all that inherit from it.
void query_objects(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  Heirs heirs(args[0]);
  std::vector<v8::Global<v8::Object>> found;
  isolate->GetHeapProfiler()->QueryObjects(context, &heirs, &found);
  v8::LocalVector<v8::Value> objects(isolate);
  for (const auto& object : found) objects.push_back(object.Get(isolate));
  args.GetReturnValue().Set(v8::Array::New(isolate, objects.data(), objects.size()));
}

constexpr Native v8_natives[] = {
    {"heap", heap},
    {"code", code},
    {"space", space},
    {"isStringOneByteRepresentation", is_string_one_byte},
    {"cachedDataVersionTag", cached_data_version_tag},
    {"queryObjects", query_objects},
};

}  // namespace

extern const Binding v8_binding;
const Binding v8_binding{"v8", v8_natives};

}  // namespace tare::engine
