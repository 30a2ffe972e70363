#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/guest_driver/import_context.hpp"
#include "runtime/guest_driver/sample.hpp"

/// The rows of the import bench: a program is loaded into an isolate.
namespace tare::guest_driver {

/// All of them.
std::vector<std::string> import_rows();

bool is_import_row(std::string_view row);

/// "transport_32" is one.
bool is_transport_row(std::string_view row);

/// The engine, and where samples share it the context, of the row that is being measured. Another place, or
/// another kind of reuse, gets another engine.
class ImportLane {
 public:
  explicit ImportLane(guest::EngineOptions options) : options_(std::move(options)) {}

  /// One sample of a row of import_rows. Throws Refusal(invalid), or an Error after which the lane should be
  /// closed.
  Sample sample(const Params& params);

  /// Samples of a transport row, all over one guest.
  std::vector<Sample> transport(const Params& params, std::uint32_t iterations);

  void close();

 private:
  std::optional<Nanoseconds> wake(const ImportPlace& place, std::uint32_t pool);
  void await_rest();

  guest::EngineOptions options_;
  ImportPlace place_;
  std::uint32_t pool_ = 0;
  std::optional<guest::Engine> engine_;
  std::optional<ImportContext> context_;  ///< the one that all samples share
};

}  // namespace tare::guest_driver
