#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <v8.h>

namespace tare::engine {

class CodeFolder;

/// What V8 made of source text, shared by all isolates of the process: made once a program has run, so that
/// the functions it used are in it. Thread-safe.
///
/// An entry is named by an id that decides its source: that of a text of the pack, or code_id() of what a
/// guest brought. V8 itself compares only lengths.
class CodeCache {
 public:
  using Code = std::span<const std::uint8_t>;

  /// Is offered up to `most_bytes`; what comes later is not kept.
  explicit CodeCache(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;

  /// Null when there is none. To be held until V8 has compiled with it (cached_data below).
  std::shared_ptr<const Code> find(std::string_view id) const;
  /// Keeps the first that is offered.
  void offer(std::string_view id, const v8::ScriptCompiler::CachedData* made);
  void offer(std::string_view id, Code bytes);
  /// V8 has not accepted it.
  void reject(std::string_view id);

  /// Reads what save() wrote with the same `stamp`, V8 and flags; otherwise, and when the file is damaged or
  /// not there, does nothing.
  void load(const std::filesystem::path& path, std::string_view stamp);
  /// Writes all entries. Throws Error(failed).
  void save(const std::filesystem::path& path, std::string_view stamp) const;
  /// How often something was kept that was offered.
  std::uint64_t kept() const;

 private:
  const std::uint64_t most_bytes_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Code>, std::less<>> entries_;
  std::uint64_t bytes_ = 0;  ///< of all entries
  std::uint64_t kept_ = 0;
};

/// The one of this process.
CodeCache& code_cache();

/// Code that V8 made in this process and a guest was given, to be known again: V8 runs what it finds in such
/// bytes as it is, so that others of a guest's making would be its way out. Of the newest thousand.
void note_produced(std::span<const std::uint8_t> bytes);
bool was_produced(std::span<const std::uint8_t> bytes);

/// For ScriptCompiler::Source, which takes it over; `code` must outlive the compilation.
std::unique_ptr<v8::ScriptCompiler::CachedData> cached_data(const CodeCache::Code& code);

/// The search for the code of one text that a guest brought, in the cache of its context, and what becomes of
/// it. Its id says what the text says, not where it lies; `kind` keeps apart what V8 compiles differently.
class CodeLookup {
 public:
  CodeLookup(v8::Isolate* isolate, std::string_view kind, v8::Local<v8::String> source);

  /// For ScriptCompiler::Source; null when there is none.
  std::unique_ptr<v8::ScriptCompiler::CachedData> data() const;
  v8::ScriptCompiler::CompileOptions options() const;
  /// Whether V8 has compiled it before: then it can be compiled.
  bool found() const { return code_ != nullptr; }
  /// V8 has compiled it: counts how that went. Code that was rejected goes, and what was made instead is
  /// noted.
  void compiled(const v8::ScriptCompiler::Source& source);
  /// Of code that should be noted: none was there that V8 took, and it is worth it. Otherwise empty.
  const std::string& id_to_note() const { return to_note_; }

 private:
  v8::Isolate* isolate_;
  CodeCache* cache_;  ///< null: none is kept
  std::string id_;
  std::string to_note_;
  std::shared_ptr<const CodeCache::Code> code_;
};

/// What was found out of a text that a guest brought, kept beside its code.
class TextFacts {
 public:
  TextFacts(v8::Isolate* isolate, std::string_view kind, v8::Local<v8::String> source);
  /// Nothing when nobody has kept any.
  std::optional<std::string_view> known() const;
  void keep(std::string_view facts);

 private:
  CodeCache* cache_;
  std::string id_;
  std::shared_ptr<const CodeCache::Code> facts_;
};

/// Notes what was compiled without the cache, to be offered by keep_code. Does nothing while a snapshot is
/// built.
void note_function(v8::Local<v8::Context> context, std::string_view id, v8::Local<v8::Function> function);
/// `wrap` is a ModuleWrap.
void note_module(v8::Local<v8::Context> context, std::string_view id, v8::Local<v8::Object> wrap);

/// Offers what was noted in this realm: to the engine's own cache what is of the library, and what the guest
/// brought to that of `folder`, if there is one. To be called when its program has ended, on its thread,
/// before the isolate goes. Runs no JavaScript.
void keep_code(v8::Local<v8::Context> context, CodeFolder* folder);

}  // namespace tare::engine
