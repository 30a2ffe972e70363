#pragma once

#include <cstddef>

namespace tare::engine {

/// From now on, pages of V8's heaps that an isolate gives back are kept for the next one, up to a bound, and
/// are empty as from the system; those for the first two are asked for at once, as huge pages. The first
/// touch of fresh ones would be a third of a cold start where a page fault is expensive, as it is below some
/// hypervisors.
///
/// Node chooses V8's allocator of pages before an addon is loaded, so this puts three functions into the
/// table of V8's own. Where that table is not as expected, nothing is changed, and V8 goes on without. For
/// the process, once, while it has only one thread that uses V8.
void keep_heap_pages();

/// How many wait for an isolate.
std::size_t kept_heap_pages();

}  // namespace tare::engine
