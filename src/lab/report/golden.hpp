#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/text.hpp"

/// For test programs alone.
namespace tare::report {

/// Compares with tests/golden/NAME, and says which line differs first. With TARE_UPDATE_GOLDEN=1 in the
/// environment it writes the file instead; read the change before you commit it.
inline void expect_golden(std::string_view name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(TARE_GOLDEN_DIR) / name;
  if (std::getenv("TARE_UPDATE_GOLDEN") != nullptr) return file::write_atomically(path, text);
  const std::vector<std::string> expected = text::split(file::read(path), '\n');
  const std::vector<std::string> actual = text::split(text, '\n');
  for (std::size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
    const std::string want = i < expected.size() ? expected[i] : "(end)";
    const std::string got = i < actual.size() ? actual[i] : "(end)";
    ASSERT_EQ(want, got) << name << ", line " << i + 1 << "; if it is meant: TARE_UPDATE_GOLDEN=1";
  }
}

}  // namespace tare::report
