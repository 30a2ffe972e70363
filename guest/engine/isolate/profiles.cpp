#include "engine/isolate/profiles.hpp"

#include <algorithm>
#include <memory>

#include "base/json.hpp"
#include "engine/isolate/assignment.hpp"
#include "engine/isolate/native.hpp"

namespace tare::engine {
namespace {

using guest::ProfileKind;

// As Node's own flags have it.
constexpr int cpu_interval_us = 1000;
constexpr std::uint64_t heap_interval_bytes = std::uint64_t{512} << 10;
constexpr int heap_stack_depth = 128;

/// An hour and more; a guest that runs for longer has no samples of what comes then, and uses no more memory.
constexpr unsigned most_cpu_samples = 4'000'000;

constexpr std::size_t part_bytes = std::size_t{1} << 20;

constexpr const char* too_large = "it is larger than 256 MB";

/// What V8 writes, up to the limit.
class Text final : public v8::OutputStream {
 public:
  int GetChunkSize() override { return 64 << 10; }
  void EndOfStream() override {}
  WriteResult WriteAsciiChunk(char* data, int size) override {
    if (text_.size() + static_cast<std::size_t>(size) > guest::profile_limit) {
      whole_ = false;
      return kAbort;
    }
    text_.append(data, static_cast<std::size_t>(size));
    return kContinue;
  }
  bool whole() const { return whole_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool whole_ = true;
};

void write_node(json::Writer& out, v8::Isolate* isolate, const v8::AllocationProfile::Node& node) {
  std::size_t size = 0;
  for (const auto& one : node.allocations) size += one.size * one.count;
  // Counted from 0 in the file, from 1 in V8, where 0 is "not known".
  const auto place = [](int number) { return std::int64_t{number} - 1; };
  out.begin_object();
  out.key("callFrame");
  out.begin_object();
  out.key("functionName");
  out.string(to_string(isolate, node.name));
  out.key("scriptId");
  out.string(std::to_string(node.script_id));
  out.key("url");
  out.string(to_string(isolate, node.script_name));
  out.key("lineNumber");
  out.integer(place(node.line_number));
  out.key("columnNumber");
  out.integer(place(node.column_number));
  out.end_object();
  out.key("selfSize");
  out.integer(std::uint64_t{size});
  out.key("id");
  out.integer(std::uint64_t{node.node_id});
  out.key("children");
  out.begin_array(false);
  for (const v8::AllocationProfile::Node* child : node.children) {
    out.element();
    write_node(out, isolate, *child);  // no deeper than the stacks that were recorded
  }
  out.end_array();
  out.end_object();
}

const ProfileRequest* request_of(const kernel::Process& process) {
  const Assignment* assignment = assignment_of(process);
  return assignment == nullptr ? nullptr : assignment->profiles();
}

}  // namespace

bool ProfileRequest::wants(ProfileKind kind) const {
  return std::ranges::find(kinds_, kind) != kinds_.end();
}

void ProfileRequest::deliver(ProfileKind kind, std::string_view profile) const {
  if (profile.size() > guest::profile_limit) return refuse(kind, too_large);
  do {
    const std::string_view part = profile.substr(0, part_bytes);
    profile.remove_prefix(part.size());
    deliver_({.kind = kind, .last = profile.empty(), .error = {}}, part);
  } while (!profile.empty());
}

void ProfileRequest::refuse(ProfileKind kind, std::string why) const {
  deliver_({.kind = kind, .last = true, .error = std::move(why)}, {});
}

Profiles::Profiles(v8::Isolate* isolate, const kernel::Process& process)
    : isolate_(isolate), request_(request_of(process)) {
  if (request_ == nullptr || process.kill_requested()) return;
  if (request_->wants(ProfileKind::heap)) {
    heap_ = isolate_->GetHeapProfiler()->StartSamplingHeapProfiler(heap_interval_bytes, heap_stack_depth);
  }
  if (request_->wants(ProfileKind::cpu)) {
    cpu_ = v8::CpuProfiler::New(isolate_);
    cpu_->SetSamplingInterval(cpu_interval_us);
    const v8::HandleScope scope(isolate_);
    cpu_id_ = cpu_->Start(v8::CpuProfilingOptions(v8::kLeafNodeLineNumbers, most_cpu_samples)).id;
  }
}

Profiles::~Profiles() {
  if (heap_) isolate_->GetHeapProfiler()->StopSamplingHeapProfiler();
  if (cpu_ == nullptr) return;
  cpu_->Stop(cpu_id_);
  cpu_->Dispose();
}

void Profiles::deliver() {
  if (request_ == nullptr) return;
  const v8::HandleScope scope(isolate_);
  deliver_cpu();
  deliver_heap();
}

void Profiles::deliver_cpu() {
  if (cpu_ == nullptr) {
    if (request_->wants(ProfileKind::cpu)) request_->refuse(ProfileKind::cpu, "the process never ran");
    return;
  }
  v8::CpuProfile* profile = cpu_->Stop(cpu_id_);
  if (profile == nullptr) {
    request_->refuse(ProfileKind::cpu, "V8 has none");
  } else {
    Text text;
    profile->Serialize(&text);
    profile->Delete();
    if (text.whole()) {
      request_->deliver(ProfileKind::cpu, text.text());
    } else {
      request_->refuse(ProfileKind::cpu, too_large);
    }
  }
  cpu_->Dispose();
  cpu_ = nullptr;
}

void Profiles::deliver_heap() {
  if (!heap_) {
    if (request_->wants(ProfileKind::heap)) request_->refuse(ProfileKind::heap, "the process never ran");
    return;
  }
  v8::HeapProfiler* profiler = isolate_->GetHeapProfiler();
  {
    const std::unique_ptr<v8::AllocationProfile> profile(profiler->GetAllocationProfile());
    if (profile == nullptr) {
      request_->refuse(ProfileKind::heap, "V8 has none");
    } else {
      request_->deliver(ProfileKind::heap, heap_profile_json(isolate_, *profile));
    }
  }
  profiler->StopSamplingHeapProfiler();
  heap_ = false;
}

std::string heap_profile_json(v8::Isolate* isolate, v8::AllocationProfile& profile) {
  std::string text;
  json::Writer out(text, json::Writer::Style::compact);
  out.begin_object();
  out.key("head");
  write_node(out, isolate, *profile.GetRootNode());
  out.key("samples");
  out.begin_array(false);
  for (const v8::AllocationProfile::Sample& sample : profile.GetSamples()) {
    out.element();
    out.begin_object();
    out.key("size");
    out.integer(std::uint64_t{sample.size * sample.count});
    out.key("nodeId");
    out.integer(std::uint64_t{sample.node_id});
    out.key("ordinal");
    out.integer(std::uint64_t{sample.sample_id});
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return text;
}

}  // namespace tare::engine
