#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/isolate/profiles.hpp"
#include "engine/kernel/process.hpp"
#include "engine/modules/code_folder.hpp"
#include "protocol/messages.hpp"

namespace tare::engine {

/// What processes of one context have in common.
struct ContextSetup {
  std::optional<std::string> bootstrap;  ///< runs before each program
  guest::CodeCacheMode code_cache = guest::CodeCacheMode::shared;
  std::shared_ptr<CodeFolder> folder;  ///< of the mode folder
};

/// What is asked of a process beside its program, and what is to be told of it. The only attachment that
/// there is.
class Assignment final : public kernel::Attachment {
 public:
  /// `context` null: as without one.
  Assignment(std::shared_ptr<const ContextSetup> context, std::unique_ptr<const ProfileRequest> profiles)
      : context_(std::move(context)), profiles_(std::move(profiles)) {}

  /// Of its context, but without profiles.
  std::shared_ptr<kernel::Attachment> for_child() const override;

  const ProfileRequest* profiles() const { return profiles_.get(); }
  const ContextSetup* context() const { return context_.get(); }

  enum class Lookup { accepted, rejected, missed };
  /// What became of a search for code. On its own thread.
  void count(Lookup lookup);
  /// A graph of modules was found. On its own thread.
  void count_graph() { graphs_ += 1; }
  guest::CodeCacheUse code_use() const;

  void set_pooled() { pooled_ = true; }
  bool pooled() const { return pooled_; }

 private:
  const std::shared_ptr<const ContextSetup> context_;
  const std::unique_ptr<const ProfileRequest> profiles_;
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> rejected_{0};
  std::atomic<std::uint64_t> missed_{0};
  std::atomic<std::uint64_t> graphs_{0};
  std::atomic<bool> pooled_{false};
};

/// Null when it has none.
Assignment* assignment_of(const kernel::Process& process);

}  // namespace tare::engine
