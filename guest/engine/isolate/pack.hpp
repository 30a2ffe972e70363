#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <v8.h>

namespace tare::engine {

/// A text of the pack, used by V8 where it lies. One object per text for as long as the process lives: a
/// snapshot names it by its address.
class PackText final : public v8::String::ExternalOneByteStringResource {
 public:
  PackText(std::string_view id, std::string_view text) : id_(id), text_(text) {}
  const char* data() const override { return text_.data(); }
  std::size_t length() const override { return text_.size(); }
  void Dispose() override {}  // the pack owns it
  std::string_view id() const { return id_; }

 private:
  std::string_view id_;
  std::string_view text_;
};

/// The library sources of Node, the tables of its bindings and the JavaScript of guest/compat, in one mapped
/// file that guest/compat/extract.cjs has written. Immutable, hence for any thread.
class Pack {
 public:
  /// Throws Error(input) that names the file when it can't be read or isn't a pack.
  explicit Pack(const std::filesystem::path& path);

  /// Nothing when there is no such text.
  const PackText* find(std::string_view id) const;

  /// In the order of the ids.
  const std::deque<PackText>& texts() const { return texts_; }

 private:
  std::deque<PackText> texts_;
  std::map<std::string_view, const PackText*> by_id_;
};

}  // namespace tare::engine
