#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/report/document.hpp"

/// Where and how a run was made, in words.
namespace tare::report {

/// How disturbed the machine was, judged anew from the facts of the document.
measure::Noise noise_of(const Document& document);

/// "2 × AMD EPYC · Linux 6.18 · governor unavailable · load 0.40 · noise: moderate"
std::string host_line(const Document& document);

/// What is repeated of a bench whose lanes take turns in larger steps than a sample: "worker" or "run"; "" of
/// one that takes turns round by round.
std::string repeated_unit(const Document& document);

/// How many of those each lane has, by the run's options.
std::int64_t repetitions(const Document& document);

/// "12 rows × 3 targets × 200 rounds, interleaved, seed 42"; rounds only when the run's options say so.
/// "8 sessions × 1 turn · 2 gateways × 3 runs, interleaved run by run, seed 42" of gateways.
std::string plan_line(const Document& document);

/// By how much equal lanes differ on this machine, so that no smaller change can be told: "between lanes of
/// this run: node 2.1 % (node_exit_1) to 6.3 % (nested_8)", and the same between two runs like this one. How
/// to find out when nothing of it was calibrated.
std::vector<std::string> detectable_lines(const Document& document);

/// Every fact of the host and the tool with its value, "unavailable" where the machine does not say.
std::vector<std::pair<std::string, std::string>> provenance(const Document& document);

/// The same as lines: "kernel: Linux 6.18.0".
std::vector<std::string> provenance_lines(const Document& document);

/// The command as it could be typed again: words with special characters are quoted.
std::string command_text(const Document& document);

/// Whole-number option of the run's configuration, as "iterations".
std::optional<std::int64_t> config_number(const Document& document, std::string_view name);

}  // namespace tare::report
