#pragma once

#include <vector>

#include "lab/driver/workload.hpp"

namespace tare::driver {

/// `judge` for the rows of the agents bench.
std::vector<Judgement> judge_agents(const Workload& workload, const json::Object& params,
                                    const Sample& sample);

}  // namespace tare::driver
