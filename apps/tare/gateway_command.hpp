#pragma once

#include "cli.hpp"
#include "lab/bench/gateway/options.hpp"
#include "run_command.hpp"

namespace tare::cli {

/// Runs the bench and reports it. Returns the exit code.
int run_gateway(const gateway_bench::RawOptions& raw, const std::optional<std::string>& token,
                const OutputOptions& output, Context& context);

/// `tare gateway call`.
void add_gateway_call(CLI::App& gateway, Context& context);

/// The token of a gateway that runs already: the flag's, else TARE_GATEWAY_TOKEN of the environment.
std::optional<std::string> gateway_token(const std::optional<std::string>& flag);

}  // namespace tare::cli
