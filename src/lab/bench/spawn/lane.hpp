#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/bench/spawn/defects.hpp"
#include "lab/bench/spawn/options.hpp"
#include "lab/driver/driver.hpp"
#include "lab/driver/registry.hpp"
#include "lab/report/document.hpp"

namespace tare::spawn {

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

/// Finds each target of the options, starts its driver once and asks who it is.
/// Throws Error(usage or unavailable) for a target that is not there, DriverFailure for one that misbehaves.
/// `scratch` is a folder that outlives the lanes.
std::vector<Lane> prepare_lanes(const Options& options, const driver::DriverOptions& driver_options,
                                const std::filesystem::path& scratch);

/// Rows of the floor lanes and of plain commands: a lane that does not offer them lacks nothing.
bool is_floor_row(std::string_view row);

}  // namespace tare::spawn
