#pragma once

#include <optional>
#include <utility>

namespace tare::kernel {

/// Why a system call was refused: a positive errno such as ENOENT.
struct Errno {
  int value;
};

/// The value of a system call, or the errno that a guest gets to see. Nothing in this folder throws a
/// refusal.
///
///     Result<Stat> stat = files.stat(origin, "/tmp/a");
///     if (!stat.ok()) return stat.failure();
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Errno error) : error_(error.value) {}

  bool ok() const { return error_ == 0; }
  /// The errno, or 0 when there is a value.
  int error() const { return error_; }
  /// The errno as the result of another call: `if (!r.ok()) return r.failure();`
  Errno failure() const { return {error_}; }

  /// Only when ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  /// By value, so that `for (auto& x : *call())` does not outlive what it walks over.
  T operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  int error_ = 0;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Errno error) : error_(error.value) {}

  bool ok() const { return error_ == 0; }
  int error() const { return error_; }
  /// The errno as the result of another call: `if (!r.ok()) return r.failure();`
  Errno failure() const { return {error_}; }

 private:
  int error_ = 0;
};

}  // namespace tare::kernel
