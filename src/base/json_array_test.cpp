#include <array>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace tare::json {
namespace {

struct Figure {
  std::optional<std::array<double, 2>> interval;
  std::vector<std::array<int, 2>> pairs;
};
BOOST_DESCRIBE_STRUCT(Figure, (), (interval, pairs))

std::string problem(std::string_view text) {
  try {
    read<Figure>(parse(text, "f"), "f");
  } catch (const Error& error) {
    return error.line();
  }
  return "";
}

TEST(JsonArray, a_fixed_array_is_written_and_read_back_as_a_list) {
  const Figure figure{{{0.5, 1.25}}, {{1, 2}, {3, 4}}};
  const std::string text = line(figure);
  EXPECT_EQ(text, R"({"interval":[0.5,1.25],"pairs":[[1,2],[3,4]]})");
  const auto back = read<Figure>(parse(text, "f"), "f");
  EXPECT_EQ(back.interval, figure.interval);
  EXPECT_EQ(back.pairs, figure.pairs);
}

TEST(JsonArray, an_absent_array_is_null) {
  EXPECT_EQ(line(Figure{}), R"({"interval":null,"pairs":[]})");
  EXPECT_FALSE(read<Figure>(parse(R"({"interval":null,"pairs":[]})", "f"), "f").interval);
}

TEST(JsonArray, a_wrong_number_of_elements_is_named_with_its_place) {
  EXPECT_NE(problem(R"({"interval":[1],"pairs":[]})").find("f: interval"), std::string::npos);
  EXPECT_NE(problem(R"({"interval":[1],"pairs":[]})").find("expected 2 elements, got 1"), std::string::npos);
  EXPECT_NE(problem(R"({"interval":[1,2],"pairs":[[1,2],[3,4,5]]})").find("pairs[1]"), std::string::npos);
  EXPECT_NE(problem(R"({"interval":{},"pairs":[]})").find("expected an array"), std::string::npos);
}

}  // namespace
}  // namespace tare::json
