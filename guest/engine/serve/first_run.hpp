#pragma once

#include <filesystem>

namespace tare::engine {

/// Where the compiled code lies that goes with a snapshot.
std::filesystem::path code_beside(const std::filesystem::path& snapshot);

/// Runs guest/compat/first_run.js in a machine of its own and writes the code that V8 has compiled for it.
/// The snapshot must be there. A program that fails costs nothing but speed.
void make_code(const std::filesystem::path& path);

}  // namespace tare::engine
