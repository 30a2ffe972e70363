#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <v8-profiler.h>
#include <vector>

#include "engine/kernel/process.hpp"
#include "protocol/messages.hpp"

namespace tare::engine {

/// What is to be recorded of a process.
class ProfileRequest {
 public:
  using Deliver = std::function<void(const guest::ProfilePart& part, std::string_view bytes)>;

  /// `deliver` is called on the thread of the process, before its end is told.
  ProfileRequest(std::vector<guest::ProfileKind> kinds, Deliver deliver)
      : kinds_(std::move(kinds)), deliver_(std::move(deliver)) {}

  bool wants(guest::ProfileKind kind) const;
  /// In parts that fit in a frame.
  void deliver(guest::ProfileKind kind, std::string_view profile) const;
  void refuse(guest::ProfileKind kind, std::string why) const;

 private:
  const std::vector<guest::ProfileKind> kinds_;
  const Deliver deliver_;
};

/// Records what is asked for of a process, from here on, on its thread and in its context. Of one that asks
/// for nothing it does nothing.
class Profiles {
 public:
  Profiles(v8::Isolate* isolate, const kernel::Process& process);
  ~Profiles();
  Profiles(const Profiles&) = delete;
  Profiles& operator=(const Profiles&) = delete;

  /// Stops, and hands over what there is. It runs no JavaScript, so that a process that was killed has its
  /// profiles, too.
  void deliver();

 private:
  void deliver_cpu();
  void deliver_heap();

  v8::Isolate* isolate_;
  const ProfileRequest* request_;
  v8::CpuProfiler* cpu_ = nullptr;
  v8::ProfilerId cpu_id_ = 0;
  bool heap_ = false;
};

/// The sampled allocations that live, as Chrome's developer tools and Node's --heap-prof write them.
std::string heap_profile_json(v8::Isolate* isolate, v8::AllocationProfile& profile);

}  // namespace tare::engine
