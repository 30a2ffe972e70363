#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tare::engine {

/// What shows that a file is the one that it was: none of it stays when it is written, or another is put in
/// its place.
struct FileMark {
  std::uint64_t dev = 0;
  std::uint64_t ino = 0;
  std::int64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  bool operator==(const FileMark&) const = default;
};

/// A graph of ES modules as the loader has found it: which files, what is in them, and where each of their
/// requests leads to.
struct GraphRecord {
  /// Another module of the graph, or the URL of one of Node's.
  using Target = std::variant<std::uint32_t, std::string>;
  struct Request {
    std::string specifier;
    Target target;
    bool operator==(const Request&) const = default;
  };
  struct Module {
    std::string path;
    FileMark mark;
    std::string source;
    std::vector<Request> requests;
    bool operator==(const Module&) const = default;
  };
  /// A package.json that says what a .js file is; without a mark, one that was not there.
  struct Package {
    std::string path;
    std::optional<FileMark> mark;
    bool operator==(const Package&) const = default;
  };
  std::vector<Module> modules;  ///< the root first
  std::vector<Package> packages;
  bool operator==(const GraphRecord&) const = default;
};

std::string encode(const GraphRecord& graph);
/// Nothing for what encode() has not made: cut, of another layout, with a target that is not there.
std::optional<GraphRecord> decode_graph(std::string_view bytes);

}  // namespace tare::engine
