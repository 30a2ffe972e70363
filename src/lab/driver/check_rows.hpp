#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "lab/driver/check.hpp"
#include "lab/driver/import_workspace.hpp"
#include "lab/driver/workload.hpp"

/// The part of the conformance test that takes samples.
namespace tare::driver {

/// Why a check does not pass.
struct Failed {
  std::string text;
};
struct Skipped {
  std::string text;
};

/// Each check returns what it saw, or throws Failed, Skipped, DriverFailure or Error.
class RowChecks {
 public:
  /// `options.driver.roster` must be set.
  RowChecks(const DriverCommand& command, const CheckOptions& options, Hello hello);

  /// The rows of this version that the driver has, in the order of a report.
  std::vector<Workload> offered() const;
  /// The names that the driver offers and this version does not know.
  std::vector<std::string> unknown() const;

  /// A sample that is carried out and right, after one that need not be. Of `durableCrash` both phases, each
  /// in a driver of its own, without a kill in between.
  std::string row(const Workload& workload);
  /// Two samples in one request.
  std::string iterations();
  /// A budget that no process and no mix can keep: the driver ends the operation itself and says so.
  std::string timeout();
  /// Whether it offers a row of a registry.
  bool keeps_runs() const;
  /// A size that is not the one of the row's name is no request.
  std::string other_size();
  /// Whether it offers a row with durable state.
  bool keeps_state() const;
  /// A place for durable state that can't be used: it says so, leaves it as it is, and goes on.
  std::string state_folder();
  /// The same of a folder that holds something already.
  std::string full_folder();
  std::string bye();

  /// How many processes drivers left behind when they were sent bye.
  std::size_t strays() const { return strays_; }

 private:
  Driver& driver();
  Farewell leave(Driver& driver);
  std::optional<Workload> durable_row() const;
  std::optional<Workload> agents_row() const;
  std::filesystem::path fresh_state() const;
  std::filesystem::path folder_of(const Workload& workload) const;
  SampleRequest request_for(const Workload& workload, json::Object params, std::int64_t iterations) const;
  json::Object params_for(const Workload& workload);
  std::vector<Sample> sample(const Workload& workload, std::int64_t iterations);
  std::string crash(const Workload& workload);
  std::string import_row(const Workload& workload);
  /// Made when a row needs it.
  const ImportWorkspace& workspace();

  DriverCommand command_;
  CheckOptions options_;
  Hello hello_;
  std::uint64_t nonce_;
  file::TemporaryFolder folder_;
  std::unique_ptr<ImportWorkspace> workspace_;
  std::unique_ptr<Driver> driver_;  ///< the one that takes the samples
  std::size_t strays_ = 0;
};

}  // namespace tare::driver
