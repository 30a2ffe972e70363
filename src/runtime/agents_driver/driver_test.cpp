#include "runtime/agents_driver/driver.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/file.hpp"

namespace tare::agents_driver {
namespace {

using testing::HasSubstr;
using testing::Not;

class DriverTest : public testing::Test {
 protected:
  std::string ask(std::string_view row, int size, int timeout_ms) {
    const std::string request = fmt::format(
        R"({{"id":1,"op":"sample","row":"{}","iterations":1,"params":{{"size":{},"nonce":"0123456789abcdef",)"
        R"("dir":"{}","timeoutMs":{},"durationMs":200}}}})",
        row, size, folder_.path().string(), timeout_ms);
    return serve::answer(handlers(), request).line;
  }

  file::TemporaryFolder folder_;
};

TEST_F(DriverTest, a_sample_has_its_memory_and_no_error) {
  const std::string answer = ask("admission_3", 3, 60'000);
  EXPECT_THAT(answer, HasSubstr(R"("outcome":"ok")"));
  EXPECT_THAT(answer, HasSubstr(R"("rssStartBytes":)"));
  EXPECT_THAT(answer, HasSubstr(R"("admissionCap":3)"));
}

TEST_F(DriverTest, a_size_that_is_not_the_one_of_the_row_is_invalid) {
  EXPECT_THAT(ask("admission_64", 3, 60'000), HasSubstr(R"("code":"invalid")"));
}

TEST_F(DriverTest, a_sample_that_uses_up_its_budget_is_late_and_leaves_nothing) {
  for (const char* row : {"mixedLoad_4", "sweepScale_30000"}) {
    const std::string answer = ask(row, row == std::string("mixedLoad_4") ? 4 : 30'000, 1);
    EXPECT_THAT(answer, HasSubstr(R"("outcome":"timeout")")) << row;
    EXPECT_THAT(answer, HasSubstr("not done after 1 ms")) << row;
    const json::Value parsed = json::parse(answer, "answer");
    EXPECT_GE(parsed.at("samples").at(0).at("ns").at("total").to_number<std::int64_t>(), 1'000'000) << row;
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path())) << row;
  }
  EXPECT_THAT(ask("mixedLoad_4", 4, 60'000), HasSubstr(R"("lostRuns":0)"));
}

TEST_F(DriverTest, a_folder_that_holds_something_is_named) {
  file::write_atomically(folder_.path() / "notes.txt", "mine");
  const std::string answer = ask("spawnPipelineDurable_4", 4, 60'000);
  EXPECT_THAT(answer, HasSubstr(R"("code":"failed")"));
  EXPECT_THAT(answer, HasSubstr("it holds notes.txt"));
}

TEST_F(DriverTest, a_folder_whose_name_is_too_long_is_an_answer) {
  const std::string answer =
      serve::answer(handlers(),
                    fmt::format(R"({{"id":1,"op":"sample","row":"spawnPipelineInMemory_2","iterations":1,)"
                                R"("params":{{"size":2,"nonce":"0","dir":"/{}","timeoutMs":60000}}}})",
                                std::string(5000, 'x')))
          .line;
  EXPECT_THAT(answer, HasSubstr(R"("ok":true)"));
}

}  // namespace
}  // namespace tare::agents_driver
