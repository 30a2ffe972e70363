#include "engine/modules/code_cache.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <openssl/evp.h>
#include <span>

#include "base/error.hpp"
#include "base/file.hpp"
#include "engine/isolate/assignment.hpp"
#include "engine/isolate/guest.hpp"
#include "engine/isolate/mapped_file.hpp"
#include "engine/isolate/native.hpp"
#include "engine/modules/code_folder.hpp"
#include "engine/modules/module_wrap.hpp"
#include "engine/modules/state.hpp"

namespace tare::engine {

using v8::Local;
using v8::ScriptCompiler;
using v8::Value;

namespace {

/// Strong, as a guest must not be able to have its code run for another's source.
std::string digest(std::span<const std::uint8_t> bytes) {
  static const EVP_MD* const sha256 =
      EVP_MD_fetch(nullptr, "SHA256", nullptr);  // else it is looked for each time
  std::array<unsigned char, EVP_MAX_MD_SIZE> out;
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, sha256, nullptr) != 1) return {};
  return {reinterpret_cast<const char*>(out.data()), size};
}

std::string digest(std::string_view text) {
  return digest(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

constexpr std::size_t digest_size = 32;

struct Produced {
  std::mutex mutex;
  std::deque<std::string> digests;  ///< the newest last
};
Produced& produced() {
  static Produced one;
  return one;
}

void put(std::string& out, std::uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift);
}

void put(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

/// V8 copies code that doesn't lie as it wants it. The size comes before.
std::size_t padding(std::size_t at) {
  constexpr std::size_t word = 8;
  return (word - (at + sizeof(std::uint32_t)) % word) % word;
}

void align(std::string& out) {
  out.append(padding(out.size()), '\0');
}

/// Reads what put() and align() wrote; empty past the end.
class Input {
 public:
  Input(std::string_view text, std::size_t at) : text_(text), at_(at) {}
  bool done() const { return at_ >= text_.size(); }
  std::string_view text() {
    std::uint32_t size = 0;
    for (int shift = 0; shift < 32 && !done(); shift += 8)
      size |= std::uint32_t{static_cast<unsigned char>(text_[at_++])} << shift;
    const std::string_view taken = text_.substr(at_, size);
    at_ += taken.size();
    return taken;
  }
  void align() { at_ = std::min(text_.size(), at_ + padding(at_)); }

 private:
  const std::string_view text_;
  std::size_t at_;
};

std::string file_head(std::string_view stamp) {
  std::string head = "tare code 2";
  put(head, ScriptCompiler::CachedDataVersionTag());
  put(head, stamp);
  return head;
}

constexpr std::uint64_t most_code = std::uint64_t{64} << 20;

}  // namespace

CodeCache& code_cache() {
  static CodeCache* const one = new CodeCache(most_code);  // never destroyed, as engine()
  return *one;
}

std::shared_ptr<const CodeCache::Code> CodeCache::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : found->second;
}

void CodeCache::offer(std::string_view id, const ScriptCompiler::CachedData* made) {
  if (made != nullptr && made->length > 0)
    offer(id, Code(made->data, static_cast<std::size_t>(made->length)));
}

void CodeCache::offer(std::string_view id, Code bytes) {
  struct Owned {
    std::vector<std::uint8_t> bytes;
    Code code;
  };
  const auto owned = std::make_shared<Owned>(std::vector(bytes.begin(), bytes.end()), Code());
  owned->code = owned->bytes;
  const std::lock_guard lock(mutex_);
  if (bytes_ + bytes.size() > most_bytes_ ||
      !entries_.emplace(id, std::shared_ptr<const Code>(owned, &owned->code)).second)
    return;
  bytes_ += bytes.size();
  ++kept_;
}

std::uint64_t CodeCache::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

void CodeCache::reject(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  bytes_ -= found->second->size();
  entries_.erase(found);
}

void CodeCache::load(const std::filesystem::path& path, std::string_view stamp) {
  std::string_view text;
  try {
    text = map_file(path, "the code cache", Reading::whole);
  } catch (const Error&) {
    return;  // most often because nobody has saved anything yet
  }
  const std::string head = file_head(stamp);
  if (text.size() < head.size() + digest_size || !text.starts_with(head)) return;
  const std::string_view body = text.substr(0, text.size() - digest_size);
  if (digest(body) != text.substr(body.size())) return;
  Input input(body, head.size());
  const std::lock_guard lock(mutex_);
  while (!input.done()) {
    const std::string_view id = input.text();
    input.align();
    const std::string_view code = input.text();
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(code.data());
    if (entries_.emplace(id, std::make_shared<const Code>(bytes, code.size())).second) bytes_ += code.size();
  }
}

void CodeCache::save(const std::filesystem::path& path, std::string_view stamp) const {
  std::string text = file_head(stamp);
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, code] : entries_) {
      put(text, id);
      align(text);
      put(text, std::string_view(reinterpret_cast<const char*>(code->data()), code->size()));
    }
  }
  text += digest(text);
  file::write_atomically(path, text);
}

void note_produced(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t most = 1000;
  std::string known = digest(bytes);
  const std::lock_guard lock(produced().mutex);
  produced().digests.push_back(std::move(known));
  if (produced().digests.size() > most) produced().digests.pop_front();
}

bool was_produced(std::span<const std::uint8_t> bytes) {
  const std::string wanted = digest(bytes);
  const std::lock_guard lock(produced().mutex);
  return std::ranges::find(produced().digests, wanted) != produced().digests.end();
}

std::unique_ptr<ScriptCompiler::CachedData> cached_data(const CodeCache::Code& code) {
  return std::make_unique<ScriptCompiler::CachedData>(code.data(), static_cast<int>(code.size()));
}

namespace {

/// What V8 made of this is of no use for any other source. Ids of the library have no such prefix.
constexpr std::string_view guest_prefix = "guest ";

/// Source that is shorter is compiled as fast as its code is found.
constexpr int least_shared = 1024;

std::string code_id(v8::Isolate* isolate, std::string_view kind, Local<v8::String> source) {
  const v8::String::ValueView view(isolate, source);
  const std::size_t bytes = static_cast<std::size_t>(source->Length()) * (view.is_one_byte() ? 1 : 2);
  const auto* data = view.is_one_byte() ? view.data8() : reinterpret_cast<const std::uint8_t*>(view.data16());
  return std::string(guest_prefix) + std::string(kind) + (view.is_one_byte() ? "1:" : "2:") +
         digest(std::span(data, bytes));
}

const ContextSetup* context_of_guest(v8::Isolate* isolate) {
  Guest* const guest = guest_of(isolate);
  const Assignment* assignment = guest == nullptr ? nullptr : assignment_of(guest->process());
  return assignment == nullptr ? nullptr : assignment->context();
}

void count(v8::Isolate* isolate, Assignment::Lookup lookup) {
  Guest* const guest = guest_of(isolate);
  Assignment* assignment = guest == nullptr ? nullptr : assignment_of(guest->process());
  if (assignment != nullptr) assignment->count(lookup);
}

}  // namespace

namespace {

/// Where code of this guest is looked for and kept; null for source that none is kept of.
CodeCache* cache_for(v8::Isolate* isolate, Local<v8::String> source) {
  const ContextSetup* context = context_of_guest(isolate);
  switch (context == nullptr ? guest::CodeCacheMode::shared : context->code_cache) {
    case guest::CodeCacheMode::off:
      return nullptr;
    case guest::CodeCacheMode::folder:
      return &context->folder->cache();
    default:
      return source->Length() < least_shared ? nullptr : &code_cache();
  }
}

}  // namespace

CodeLookup::CodeLookup(v8::Isolate* isolate, std::string_view kind, Local<v8::String> source)
    : isolate_(isolate), cache_(cache_for(isolate, source)) {
  if (cache_ == nullptr) return;
  id_ = code_id(isolate, kind, source);
  code_ = cache_->find(id_);
  if (code_ == nullptr) to_note_ = id_;
}

TextFacts::TextFacts(v8::Isolate* isolate, std::string_view kind, Local<v8::String> source)
    : cache_(cache_for(isolate, source)) {
  if (cache_ == nullptr) return;
  id_ = code_id(isolate, kind, source);
  facts_ = cache_->find(id_);
}

std::optional<std::string_view> TextFacts::known() const {
  if (facts_ == nullptr) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(facts_->data()), facts_->size());
}

void TextFacts::keep(std::string_view facts) {
  if (cache_ == nullptr || facts.empty()) return;
  cache_->offer(id_, {reinterpret_cast<const std::uint8_t*>(facts.data()), facts.size()});
}

std::unique_ptr<ScriptCompiler::CachedData> CodeLookup::data() const {
  return code_ == nullptr ? nullptr : cached_data(*code_);
}

ScriptCompiler::CompileOptions CodeLookup::options() const {
  return code_ == nullptr ? ScriptCompiler::kNoCompileOptions : ScriptCompiler::kConsumeCodeCache;
}

void CodeLookup::compiled(const ScriptCompiler::Source& source) {
  if (code_ == nullptr) return count(isolate_, Assignment::Lookup::missed);
  const bool rejected = source.GetCachedData()->rejected;
  count(isolate_, rejected ? Assignment::Lookup::rejected : Assignment::Lookup::accepted);
  if (!rejected) return;
  cache_->reject(id_);
  to_note_ = id_;
}

namespace {

/// The list of what was compiled: id, thing, id, thing.
Local<v8::Array> noted(Local<v8::Context> context) {
  Local<Value> list = module_state(context, ModuleSlot::compiled);
  if (!list->IsArray()) {
    list = v8::Array::New(v8::Isolate::GetCurrent());
    set_module_state(context, ModuleSlot::compiled, list);
  }
  return list.As<v8::Array>();
}

Local<v8::String> binary_string(v8::Isolate* isolate, std::string_view bytes) {
  return v8::String::NewFromOneByte(isolate, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                    v8::NewStringType::kNormal, static_cast<int>(bytes.size()))
      .ToLocalChecked();
}

std::string from_binary_string(v8::Isolate* isolate, Local<v8::String> string) {
  std::string bytes(static_cast<std::size_t>(string->Length()), '\0');
  string->WriteOneByteV2(isolate, 0, static_cast<std::uint32_t>(bytes.size()),
                         reinterpret_cast<std::uint8_t*>(bytes.data()));
  return bytes;
}

void note(Local<v8::Context> context, std::string_view id, Local<v8::Object> thing) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  if (id.empty() || guest_of(isolate) == nullptr) return;
  const Local<v8::Array> list = noted(context);
  const std::uint32_t length = list->Length();
  // Defined rather than set: a setter on Array.prototype belongs to the guest.
  list->CreateDataProperty(context, length, binary_string(isolate, id)).Check();
  list->CreateDataProperty(context, length + 1, thing).Check();
}

}  // namespace

void note_function(Local<v8::Context> context, std::string_view id, Local<v8::Function> function) {
  note(context, id, function);
}

void note_module(Local<v8::Context> context, std::string_view id, Local<v8::Object> wrap) {
  note(context, id, wrap);
}

void keep_code(Local<v8::Context> context, CodeFolder* folder) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  const v8::HandleScope scope(isolate);
  const Local<Value> list = module_state(context, ModuleSlot::compiled);
  if (!list->IsArray()) return;
  const auto things = list.As<v8::Array>();
  for (std::uint32_t i = 0; i + 1 < things->Length(); i += 2) {
    const v8::HandleScope inner(isolate);
    Local<Value> name;
    Local<Value> thing;
    if (!things->Get(context, i).ToLocal(&name) || !things->Get(context, i + 1).ToLocal(&thing)) return;
    const std::string id = from_binary_string(isolate, name.As<v8::String>());
    CodeCache& cache = folder != nullptr && id.starts_with(guest_prefix) ? folder->cache() : code_cache();
    if (cache.find(id)) continue;
    std::unique_ptr<ScriptCompiler::CachedData> made;
    if (thing->IsFunction()) {
      made.reset(ScriptCompiler::CreateCodeCacheForFunction(thing.As<v8::Function>()));
    } else {
      const Local<v8::Data> script =
          thing.As<v8::Object>()->GetInternalField(static_cast<int>(WrapField::script));
      made.reset(ScriptCompiler::CreateCodeCache(script.As<v8::UnboundModuleScript>()));
    }
    cache.offer(id, made.get());
  }
  set_module_state(context, ModuleSlot::compiled, v8::Undefined(isolate));
}

}  // namespace tare::engine
