#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Text helpers. Numbers are read and written in the C locale, whatever LANG says.
namespace tare::text {

/// Splits at every separator; "" gives one empty part.
std::vector<std::string> split(std::string_view text, char separator);

std::string join(std::span<const std::string> parts, std::string_view separator);

/// `text` without spaces, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

/// Valid UTF-8: every byte that is not part of a valid sequence becomes the four characters `\xHH`.
/// Nothing is dropped.
std::string escape_bad_utf8(std::string_view text);

/// For one line of a terminal: bad UTF-8 and control characters are escaped, so foreign text cannot
/// break a line or move the cursor.
std::string one_line(std::string_view text);

/// The last `lines` lines of foreign text, at most `bytes` long, joined by " | " and safe for one line.
std::string tail(std::string_view text, std::size_t lines, std::size_t bytes);

/// The first bytes of valid UTF-8, at most so many, without half a character at the end.
std::string_view cut(std::string_view text, std::size_t bytes);

/// How many terminal cells valid UTF-8 takes: one a code point, none for combining marks, two for wide ones.
std::size_t width(std::string_view text);

/// Whole-string parsing, no spaces, no locale. Nothing when `text` is not such a number or out of range.
std::optional<std::int64_t> to_int(std::string_view text);
std::optional<double> to_double(std::string_view text);

/// `value` with three significant digits, never in exponent form: 0.0312, 1.25, 27.9, 223, 14,500.
std::string significant(double value);

/// A count with thousands separators: 6,400.
std::string count(std::uint64_t value);

/// A size with a binary unit: 512 B, 1.4 KB, 161 MB (1 KB = 1024 B).
std::string bytes(std::uint64_t value);

/// The candidate nearest to `word` by edit distance, if it is near enough to be a slip of the keyboard.
std::optional<std::string> did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// Splits a command line into words as a POSIX shell does for spaces, quotes and backslashes, without any
/// expansion. Nothing when a quote is left open.
std::optional<std::vector<std::string>> shell_words(std::string_view command);

}  // namespace tare::text
