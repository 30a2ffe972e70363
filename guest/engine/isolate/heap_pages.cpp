#include "engine/isolate/heap_pages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <span>
#include <unordered_set>
#include <v8-platform.h>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace tare::engine {
namespace {

constexpr std::size_t chunk_bytes = 256 << 10;  // V8's unit: a page of its heap
constexpr std::size_t most_kept = 32;           // 4 MB, the heaps of nearly two guests

using Allocate = void* (*)(void* self, void* hint, std::size_t size, std::size_t alignment,
                           v8::PageAllocator::Permission access);
using Shrink = bool (*)(void* self, void* address, std::size_t size, std::size_t new_size);
using Free = bool (*)(void* self, void* address, std::size_t size);

struct Kept {
  std::mutex mutex;
  std::vector<void*> chunks;
  std::unordered_set<void*> shrunk;  ///< in use, and still whole, though V8 has given the end of them back
  Allocate allocate = nullptr;
  Shrink shrink = nullptr;
  Free free = nullptr;
};

Kept& kept() {
  static auto* const one = new Kept;  // V8 gives pages back until the process has ended
  return *one;
}

/// Writes zeros where there is something, and lets go of what the system may have put away. What was never
/// touched stays so. False if the system refuses.
bool clear(void* chunk) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::array<unsigned char, chunk_bytes / 4096> resident{};
  if (::mprotect(chunk, chunk_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  if (::mincore(chunk, chunk_bytes, resident.data()) != 0) return false;
  auto* const bytes = static_cast<std::byte*>(chunk);
  const std::size_t count = chunk_bytes / page;
  for (std::size_t from = 0; from < count;) {
    const bool there = (resident.at(from) & 1) != 0;
    std::size_t to = from + 1;
    while (to < count && ((resident.at(to) & 1) != 0) == there) ++to;
    if (there) {
      std::memset(bytes + from * page, 0, (to - from) * page);
    } else if (::madvise(bytes + from * page, (to - from) * page, MADV_DONTNEED) != 0) {
      return false;
    }
    from = to;
  }
  return true;
}

void* allocate(void* self, void* hint, std::size_t size, std::size_t alignment,
               v8::PageAllocator::Permission access) {
  if (size == chunk_bytes && alignment <= chunk_bytes && access == v8::PageAllocator::kReadWrite) {
    const std::lock_guard lock(kept().mutex);
    if (!kept().chunks.empty()) {
      void* const chunk = kept().chunks.back();
      kept().chunks.pop_back();
      return chunk;
    }
  }
  return kept().allocate(self, hint, size, alignment, access);
}

bool is_chunk(const void* address, std::size_t size) {
  return size == chunk_bytes && reinterpret_cast<std::uintptr_t>(address) % chunk_bytes == 0;
}

/// V8 cuts what it has not used off the last page of each space, once it has read a snapshot.
bool shrink(void* self, void* address, std::size_t size, std::size_t new_size) {
  if (!is_chunk(address, size)) return kept().shrink(self, address, size, new_size);
  const std::lock_guard lock(kept().mutex);
  kept().shrunk.insert(address);
  return true;
}

bool keep(void* chunk) {
  const auto full = [] { return kept().chunks.size() >= most_kept; };
  {
    const std::lock_guard lock(kept().mutex);
    if (full()) return false;
  }
  if (!clear(chunk)) return false;
  const std::lock_guard lock(kept().mutex);
  if (full()) return false;
  kept().chunks.push_back(chunk);
  return true;
}

bool release(void* self, void* address, std::size_t size) {
  {
    const std::lock_guard lock(kept().mutex);
    if (kept().shrunk.erase(address) != 0) size = chunk_bytes;
  }
  return (is_chunk(address, size) && keep(address)) || kept().free(self, address, size);
}

/// Memory for the first two isolates, which the system gives at once where it has huge pages, and bit by bit
/// where it has none.
void keep_some() {
  constexpr std::size_t huge_page = 2 << 20;
  constexpr std::size_t wanted_bytes = 2 * huge_page;
  void* const memory = ::mmap(nullptr, wanted_bytes + huge_page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  auto* const begin = static_cast<std::byte*>(memory);
  auto* const from = begin + (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
  if (from != begin) (void)::munmap(begin, static_cast<std::size_t>(from - begin));
  if (from != begin + huge_page)
    (void)::munmap(from + wanted_bytes, static_cast<std::size_t>(begin + huge_page - from));
  (void)::madvise(from, wanted_bytes, MADV_HUGEPAGE);
  const std::lock_guard lock(kept().mutex);
  for (std::size_t at = wanted_bytes; at > 0; at -= chunk_bytes)
    kept().chunks.push_back(from + at - chunk_bytes);
}

/// One of the functions of V8's allocator, and what takes its place.
struct Replacement {
  const char* name;
  void* with;
  void* function = nullptr;
  void** entry = nullptr;
};

/// False where the table has no such function.
bool find(Replacement& one, std::span<void*> table) {
  one.function = ::dlsym(RTLD_DEFAULT, one.name);
  const auto found = std::find(table.begin(), table.end(), one.function);
  if (one.function == nullptr || found == table.end()) return false;
  one.entry = &*found;
  return true;
}

/// For the whole table, which lies in memory that is read only.
bool protect(std::span<void*> table, int access) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto from = reinterpret_cast<std::uintptr_t>(table.data()) & ~(page - 1);
  const auto to = reinterpret_cast<std::uintptr_t>(table.data() + table.size());
  return ::mprotect(reinterpret_cast<void*>(from), to - from, access) == 0;
}

}  // namespace

void keep_heap_pages() {
  constexpr std::ptrdiff_t first_function = 2;  // the functions come after two words
  constexpr std::size_t function_count = 15;
  auto* const words = static_cast<void**>(::dlsym(RTLD_DEFAULT, "_ZTVN2v84base13PageAllocatorE"));
  if (words == nullptr) return;
  const std::span table(words + first_function, function_count);
  Replacement allocating{"_ZN2v84base13PageAllocator13AllocatePagesEPvmmNS_13PageAllocator10PermissionE",
                         reinterpret_cast<void*>(&allocate)};
  Replacement shrinking{"_ZN2v84base13PageAllocator12ReleasePagesEPvmm", reinterpret_cast<void*>(&shrink)};
  Replacement freeing{"_ZN2v84base13PageAllocator9FreePagesEPvm", reinterpret_cast<void*>(&release)};
  if (!find(allocating, table) || !find(shrinking, table) || !find(freeing, table)) return;
  kept().allocate = reinterpret_cast<Allocate>(allocating.function);
  kept().shrink = reinterpret_cast<Shrink>(shrinking.function);
  kept().free = reinterpret_cast<Free>(freeing.function);
  if (!protect(table, PROT_READ | PROT_WRITE)) return;
  for (const Replacement* one : {&freeing, &shrinking, &allocating}) *one->entry = one->with;
  (void)protect(table, PROT_READ);
  keep_some();
}

std::size_t kept_heap_pages() {
  const std::lock_guard lock(kept().mutex);
  return kept().chunks.size();
}

}  // namespace tare::engine
