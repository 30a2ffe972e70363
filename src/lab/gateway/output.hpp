#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// The output of a program that may say any amount.
namespace tare::lab_gateway {

/// The end of it.
class Tail {
 public:
  static constexpr std::size_t bytes = std::size_t{64} << 10;

  void add(std::string_view more);
  /// The last 64 KiB, from the start of a character.
  std::string_view text() const;
  /// The last bytes of it, as many as there are up to this number.
  std::string_view last(std::size_t count) const;
  /// The last lines, whole.
  std::string lines(std::size_t count) const;

 private:
  std::string kept_;
};

/// Both streams of a program: their ends, the first line of stdout, and which texts ever came.
class Output {
 public:
  enum class From { out, err };

  /// Notices it from now on, however much comes after it. It may be in what is still kept.
  void watch(std::string text);
  void add(From from, std::string_view more);

  bool has_said(std::string_view text) const;
  const std::string* first_line() const { return has_first_ ? &first_ : nullptr; }
  const Tail& both() const { return both_; }
  const Tail& err() const { return err_; }

 private:
  struct Watched {
    std::string text;
    bool came = false;
  };
  void add_to_first(std::string_view more);

  Tail both_;
  Tail out_;
  Tail err_;
  std::vector<Watched> watched_;
  std::string first_;  ///< no more than a tail has
  bool has_first_ = false;
};

}  // namespace tare::lab_gateway
