#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tare::gateway {

/// Figures in the text format of Prometheus, version 0.0.4.
class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;
  enum class Type : std::uint8_t { counter, gauge };

  /// What follows until the next family are its samples.
  void family(std::string_view name, Type type, std::string_view help);
  void sample(double value, const Labels& labels = {});
  void one(std::string_view name, Type type, std::string_view help, double value) {
    family(name, type, help);
    sample(value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  std::string name_;
};

}  // namespace tare::gateway
