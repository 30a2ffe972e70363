#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace tare::agents {

/// A growing array whose elements stay where they are.
template <class T>
class Chunks {
 public:
  T& operator[](std::size_t i) { return chunks_[i / chunk][i % chunk]; }
  const T& operator[](std::size_t i) const { return chunks_[i / chunk][i % chunk]; }
  std::size_t size() const { return size_; }

  /// Returns the index of a new element.
  std::size_t grow() {
    if (size_ == chunks_.size() * chunk) chunks_.push_back(std::make_unique<T[]>(chunk));
    return size_++;
  }

 private:
  static constexpr std::size_t chunk = 32;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace tare::agents
