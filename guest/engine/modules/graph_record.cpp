#include "engine/modules/graph_record.hpp"

#include <cstring>

namespace tare::engine {
namespace {

constexpr std::uint32_t layout = 1;
constexpr std::uint32_t builtin = UINT32_MAX;  ///< in place of an index

class Encoder {
 public:
  template <class Number>
  void number(Number value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_.append(bytes, sizeof value);
  }
  void count(std::size_t value) { number(static_cast<std::uint32_t>(value)); }
  void text(std::string_view value) {
    count(value.size());
    out_ += value;
  }
  void mark(const FileMark& mark) {
    number(mark.dev);
    number(mark.ino);
    number(mark.size);
    number(mark.mtime_ns);
    number(mark.ctime_ns);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// After the end, everything is 0 and empty, and ok() is false.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }

  template <class Number>
  Number number() {
    Number value{};
    const std::string_view part = take(sizeof value);
    if (ok_) std::memcpy(&value, part.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number<std::uint32_t>())); }
  /// Each of what is counted takes a byte at least, so that a wrong count makes no large room.
  std::size_t count() {
    const std::size_t value = number<std::uint32_t>();
    if (value > bytes_.size()) ok_ = false;
    return ok_ ? value : 0;
  }
  FileMark mark() {
    FileMark mark;
    mark.dev = number<std::uint64_t>();
    mark.ino = number<std::uint64_t>();
    mark.size = number<std::int64_t>();
    mark.mtime_ns = number<std::int64_t>();
    mark.ctime_ns = number<std::int64_t>();
    return mark;
  }

 private:
  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

GraphRecord::Request decode_request(Decoder& in) {
  std::string specifier = in.text();
  const auto index = in.number<std::uint32_t>();
  if (index == builtin) return {std::move(specifier), in.text()};
  return {std::move(specifier), index};
}

bool leads_somewhere(const GraphRecord& graph) {
  for (const GraphRecord::Module& module : graph.modules) {
    for (const GraphRecord::Request& request : module.requests) {
      const auto* index = std::get_if<std::uint32_t>(&request.target);
      if (index != nullptr && *index >= graph.modules.size()) return false;
    }
  }
  return !graph.modules.empty();
}

}  // namespace

std::string encode(const GraphRecord& graph) {
  Encoder out;
  out.number(layout);
  out.count(graph.modules.size());
  for (const GraphRecord::Module& module : graph.modules) {
    out.text(module.path);
    out.mark(module.mark);
    out.text(module.source);
    out.count(module.requests.size());
    for (const GraphRecord::Request& request : module.requests) {
      out.text(request.specifier);
      const auto* index = std::get_if<std::uint32_t>(&request.target);
      out.number(index == nullptr ? builtin : *index);
      if (index == nullptr) out.text(std::get<std::string>(request.target));
    }
  }
  out.count(graph.packages.size());
  for (const GraphRecord::Package& package : graph.packages) {
    out.text(package.path);
    out.number(static_cast<std::uint8_t>(package.mark.has_value()));
    if (package.mark) out.mark(*package.mark);
  }
  return out.take();
}

std::optional<GraphRecord> decode_graph(std::string_view bytes) {
  Decoder in(bytes);
  if (in.number<std::uint32_t>() != layout) return std::nullopt;
  GraphRecord graph;
  for (std::size_t left = in.count(); left > 0 && in.ok(); --left) {
    GraphRecord::Module& module = graph.modules.emplace_back();
    module.path = in.text();
    module.mark = in.mark();
    module.source = in.text();
    for (std::size_t more = in.count(); more > 0 && in.ok(); --more)
      module.requests.push_back(decode_request(in));
  }
  for (std::size_t left = in.count(); left > 0 && in.ok(); --left) {
    GraphRecord::Package& package = graph.packages.emplace_back();
    package.path = in.text();
    if (in.number<std::uint8_t>() != 0) package.mark = in.mark();
  }
  if (!in.ok() || !in.at_end() || !leads_somewhere(graph)) return std::nullopt;
  return graph;
}

}  // namespace tare::engine
