#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Reading single facts out of /proc and /sys. Nothing here throws: a file that is not there, not readable
/// or not of the expected form is an absent fact.
namespace tare::measure::facts {

/// The content of a small file without the space around it; nothing when it can't be read or is empty.
std::optional<std::string> text(const std::filesystem::path& path);

/// A file that holds one whole number that is not negative.
std::optional<std::uint64_t> number(const std::filesystem::path& path);

/// The rest of the first line that starts with `key`, without `separators` before it; nothing without one.
/// `value_of("MemTotal:  8 kB", "MemTotal", ": \t")` is "8 kB".
std::optional<std::string> value_of(std::string_view text, std::string_view key,
                                    std::string_view separators = ": \t");

/// `text` as a whole number up to the first space: "8192 kB" is 8192.
std::optional<std::uint64_t> leading_number(std::string_view text);

/// How many processors a kernel list such as "0-3,8" names.
std::optional<std::uint64_t> cpu_list_size(std::string_view list);

}  // namespace tare::measure::facts
