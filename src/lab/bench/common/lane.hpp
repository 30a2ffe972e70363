#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/bench/common/defects.hpp"
#include "lab/driver/driver.hpp"
#include "lab/driver/registry.hpp"
#include "lab/report/document.hpp"

namespace tare::bench {

/// A target's part in a run: how its driver is started, and what it said of itself when it was asked once
/// before the run.
struct Lane {
  driver::TargetSpec spec;
  driver::Hello hello;
  report::Target facts;
  std::string node;             ///< the reference Node, which every driver is told
  std::vector<Defect> defects;  ///< known ones of this version

  std::string
      scratch;  ///< where the driver may keep files: removed after the run, whatever happens to the driver

  driver::DriverCommand command() const;
};

/// Which lanes a run has.
struct LaneRequest {
  std::string bench;
  std::vector<std::string> targets;  ///< as on the command line
  std::optional<std::string> node;   ///< prefix of the reference Node; null: the pinned one
};

/// Finds each target, starts its driver once and asks who it is.
/// Throws Error(usage or unavailable) for a target that is not there, DriverFailure for one that misbehaves.
/// `scratch` is a folder that outlives the lanes.
std::vector<Lane> prepare_lanes(const LaneRequest& request, const driver::DriverOptions& driver_options,
                                const std::filesystem::path& scratch);

}  // namespace tare::bench
