#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "lab/bench/import/options.hpp"
#include "lab/report/document.hpp"

/// The state of an unfinished run: its partial document with whole stages alone. A stage is a row on all
/// lanes.
namespace tare::import_bench {

inline constexpr const char* state_name = "run-state.json";

/// What a run does with the state that it finds.
enum class StateUse {
  if_it_fits,  ///< goes on with it, or says why not and starts anew
  demand,      ///< goes on with it, or does not run
  ignore,      ///< starts anew
};

/// The state with which a run of these options can go on: written by this very program, on this machine, with
/// the same options, and whole. Stages in which something failed are left out, to be measured anew. Nothing
/// when there is none; one that does not fit is said in one line to `say`. Throws Error(input) when a state
/// is demanded and there is none that fits.
std::optional<report::Document> find_state(const std::filesystem::path& path, const Options& options,
                                           StateUse use, const std::function<void(const std::string&)>& say);

/// The line that says why a state is not used.
std::string ignored(const std::filesystem::path& path, const std::string& why);

/// Why a state is not used, out of the error that says so.
std::string why_of(const Error& error);

/// How many stages a document holds.
std::uint64_t stages_of(const report::Document& document);

}  // namespace tare::import_bench
