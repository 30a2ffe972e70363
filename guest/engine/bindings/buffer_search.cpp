#include "engine/bindings/buffer_search.hpp"

#include <algorithm>
#include <cstring>

#include "engine/bindings/search.hpp"
#include "engine/bindings/support.hpp"
#include "engine/bindings/text.hpp"

namespace tare::engine {
namespace {

/// (buffer, value, offset, encoding, forward, end) of the functions that look for bytes.
struct Search {
  std::span<const std::uint8_t> haystack;  ///< up to the end of the search
  std::int64_t whole;                      ///< bytes of the buffer, from whose end a negative offset counts
  std::int64_t offset;
  Direction direction;
};

/// Where a search starts. Nothing when it can't find anything.
std::optional<std::size_t> start_of(const Search& search, std::size_t needle) {
  const auto length = static_cast<std::int64_t>(search.haystack.size());
  const bool forward = search.direction == Direction::forward;
  const std::int64_t start = search.offset < 0 ? search.offset + search.whole : search.offset;
  if (start < 0) {
    if (forward || needle == 0) return 0;
    return std::nullopt;
  }
  if (start + static_cast<std::int64_t>(needle) <= length) return static_cast<std::size_t>(start);
  if (needle == 0) return static_cast<std::size_t>(length);
  if (forward || length == 0) return std::nullopt;
  return static_cast<std::size_t>(length - 1);
}

std::vector<std::uint16_t> units(std::span<const std::uint8_t> bytes) {
  std::vector<std::uint16_t> found(bytes.size() / 2);
  if (!found.empty()) std::memcpy(found.data(), bytes.data(), found.size() * 2);
  return found;
}

std::int64_t find_units(const Search& search, std::span<const std::uint8_t> needle, std::size_t start) {
  if (search.haystack.size() < 2 || needle.size() < 2) return -1;
  const std::vector<std::uint16_t> haystack_units = units(search.haystack);
  const std::vector<std::uint16_t> needle_units = units(needle);
  const std::size_t at = find<std::uint16_t>(haystack_units, needle_units,
                                             std::min(start / 2, haystack_units.size()), search.direction);
  return at == not_found ? -1 : static_cast<std::int64_t>(at * 2);
}

std::int64_t find_bytes(const Search& search, std::span<const std::uint8_t> needle, std::size_t start) {
  if (search.direction == Direction::forward) {
    const auto rest = search.haystack.subspan(start);
    const void* at = memmem(rest.data(), rest.size(), needle.data(), needle.size());
    return at == nullptr ? -1 : static_cast<const std::uint8_t*>(at) - search.haystack.data();
  }
  const std::size_t at = find<std::uint8_t>(search.haystack, needle, start, search.direction);
  return at == not_found ? -1 : static_cast<std::int64_t>(at);
}

std::int64_t search_for(Search search, std::span<const std::uint8_t> needle, Encoding encoding) {
  if (encoding == Encoding::utf16le) search.haystack = search.haystack.first(search.haystack.size() / 2 * 2);
  const std::optional<std::size_t> start = start_of(search, needle.size());
  if (!start) return -1;
  if (needle.empty()) return static_cast<std::int64_t>(*start);
  if (search.haystack.empty() || needle.size() > search.haystack.size()) return -1;
  if (search.direction == Direction::forward && *start + needle.size() > search.haystack.size()) return -1;
  return encoding == Encoding::utf16le ? find_units(search, needle, *start)
                                       : find_bytes(search, needle, *start);
}

/// The numbers first: code of a program may run for them, and detach the buffer.
struct Range {
  Range(const Arguments& args, int direction_index)
      : direction(args[direction_index]->IsTrue() ? Direction::forward : Direction::backward) {
    const v8::Local<v8::Context> context = args.GetIsolate()->GetCurrentContext();
    offset = args[2]->IntegerValue(context).FromMaybe(0);
    const v8::Local<v8::Value> last = args[direction_index + 1];
    if (!last->IsUndefined())
      end = static_cast<std::size_t>(std::max<std::int64_t>(last->IntegerValue(context).FromMaybe(0), 0));
  }
  /// Whole characters only, if they have two bytes.
  Search in(const Bytes& bytes, std::size_t width = 1) const {
    const std::size_t whole = bytes.size() / width * width;
    return {bytes.span().first(std::min(whole, end)), static_cast<std::int64_t>(whole), offset, direction};
  }

  Direction direction;
  std::int64_t offset = 0;
  std::size_t end = not_found;
};

void answer(const Arguments& args, std::int64_t place) {
  args.GetReturnValue().Set(static_cast<double>(place));
}

}  // namespace

void index_of_string(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  if (!args[1]->IsString()) return;
  const Range range(args, 4);
  const Encoding encoding = encoding_of(isolate, args[3]);
  const std::string needle = decode(isolate, args[1].As<v8::String>(), encoding);
  const Bytes bytes(args[0]);
  answer(args, search_for(range.in(bytes, encoding == Encoding::utf16le ? 2 : 1),
                          {reinterpret_cast<const std::uint8_t*>(needle.data()), needle.size()}, encoding));
}

void index_of_buffer(const Arguments& args) {
  const Range range(args, 4);
  const Bytes bytes(args[0]);
  const Bytes needle(args[1]);
  answer(args, search_for(range.in(bytes), needle.span(), encoding_of(args.GetIsolate(), args[3])));
}

void index_of_number(const Arguments& args) {
  const auto needle =
      static_cast<std::uint8_t>(args[1]->Uint32Value(args.GetIsolate()->GetCurrentContext()).FromMaybe(0));
  const Range range(args, 3);
  const Bytes bytes(args[0]);
  const Search search = range.in(bytes);
  const std::optional<std::size_t> start = start_of(search, 1);
  if (!start || search.haystack.empty()) return answer(args, -1);
  const std::uint8_t* data = search.haystack.data();
  const void* at = search.direction == Direction::forward
                       ? std::memchr(data + *start, needle, search.haystack.size() - *start)
                       : memrchr(data, needle, *start + 1);
  answer(args, at == nullptr ? -1 : static_cast<const std::uint8_t*>(at) - data);
}

}  // namespace tare::engine
