#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <v8.h>

#include "engine/kernel/process.hpp"

/// What V8 answers with the end of the whole process, an array too long or memory that it must have, ends
/// only the guest here: its thread stops where it is, for ever, with all that it holds, and its neighbours go
/// on.
namespace tare::engine {

/// V8 gives up by a trap where it has nobody to ask. For the process, once.
void contain_traps();

/// And by these calls where it has.
void contain_failures(v8::Isolate* isolate);

/// The process that this thread runs: who is to blame when V8 gives up. One at a time on a thread.
class Blame {
 public:
  explicit Blame(const std::shared_ptr<kernel::Process>& process);
  ~Blame();
  Blame(const Blame&) = delete;
  Blame& operator=(const Blame&) = delete;
};

/// Ends a process whose thread does not: those who wait for it are told, the thread is left alone. For any
/// thread. Nothing happens when it has ended.
void abandon(kernel::Process& process, kernel::Exit exit);

/// SIGKILL for a process and all that descend from it; a limit of its would be none otherwise. For any
/// thread.
void kill_with_children(const std::shared_ptr<kernel::Process>& process, std::string_view reason);

/// How many were abandoned since the engine's start.
std::uint64_t abandoned();

}  // namespace tare::engine
