#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/flag.hpp"

/// What the options of every bench are made of. All errors are one line that names the flag, what it takes
/// and what was given.
namespace tare::bench {

/// Looks a variable up, as getenv does; nothing when it is not set or empty.
using Environment = std::function<std::optional<std::string>(std::string_view)>;

/// A whole number of a range without negative numbers. Throws Error(usage).
std::uint64_t number(std::string_view flag, std::string_view text, WholeRange range);

/// Any seed.
std::uint64_t seed_number(std::string_view text);

/// The parts of a comma-separated list, trimmed. Throws Error(usage) for an empty or repeated one.
std::vector<std::string> list(std::string_view flag, std::string_view text);

/// The same of numbers, which are the same however they are written.
std::vector<std::uint64_t> number_list(std::string_view flag, std::string_view text, WholeRange range);

/// The targets of a run: the names of `--targets` (or `fallback`), then each `--target`. Throws Error(usage).
std::vector<std::string> target_list(const std::optional<std::string>& names,
                                     const std::vector<std::string>& extra,
                                     const std::vector<std::string>& fallback);

/// The same limits for options that come from a file. Throws Error(input).
void check_range(std::string_view source, std::string_view name, std::uint64_t value, WholeRange range);

/// Throws Error(input) when a flag asks an interrupted run for something else than it was begun with.
void check_same(std::string_view source, std::string_view flag, bool given, bool equal);

}  // namespace tare::bench
