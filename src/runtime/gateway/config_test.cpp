#include "runtime/gateway/config.hpp"

#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace tare::gateway {
namespace {

using testing::HasSubstr;

class ConfigTest : public testing::Test {
 protected:
  file::TemporaryFolder folder;
  std::map<std::string, std::string> flags;
  std::map<std::string, std::string> variables{{"HOME", "/home/me"}};
  std::optional<std::filesystem::path> path;

  Config read() {
    return read_config(
        flags,
        [&](const std::string& name) {
          const auto found = variables.find(name);
          return found == variables.end() ? std::nullopt : std::optional(found->second);
        },
        path);
  }
  void write(const std::string& text) {
    path = folder.path() / "gateway.toml";
    std::ofstream(*path) << text;
  }
  std::string refused() {
    try {
      read();
      return "it was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), exit_usage);
      return error.line();
    }
  }
};

TEST_F(ConfigTest, without_anything_there_are_defaults) {
  const Config config = read();
  EXPECT_EQ(config.bind, "127.0.0.1");
  EXPECT_EQ(config.port, 18789);
  EXPECT_FALSE(config.token);
  EXPECT_EQ(config.state, "/home/me/.local/state/tare/gateway");
  EXPECT_EQ(config.provider.connections, 8u);
}

TEST_F(ConfigTest, flags_count_over_the_environment_over_the_file) {
  write("port = 1\nmodel = 'file'\nmax-concurrent = 3\n");
  EXPECT_EQ(read().port, 1);
  variables["TARE_GATEWAY_PORT"] = "2";
  variables["TARE_GATEWAY_MODEL"] = "environment";
  EXPECT_EQ(read().port, 2);
  flags["port"] = "3";
  const Config config = read();
  EXPECT_EQ(config.port, 3);
  EXPECT_EQ(config.runner.model, "environment");
  EXPECT_EQ(config.runner.max_concurrent, 3u);
  EXPECT_EQ(config.provider.connections, 3u);
}

TEST_F(ConfigTest, a_bad_value_is_named_by_its_place) {
  flags["port"] = "-1";
  EXPECT_THAT(refused(), HasSubstr("--port must be 0 to 65535, got -1"));
  flags.clear();
  variables["TARE_GATEWAY_DRAIN_MS"] = "soon";
  EXPECT_THAT(refused(), HasSubstr("TARE_GATEWAY_DRAIN_MS"));
  variables.erase("TARE_GATEWAY_DRAIN_MS");
  write("\nlog-level = \"loud\"\n");
  EXPECT_THAT(refused(),
              HasSubstr("gateway.toml:2: log-level must be debug, info, warn or error, got 'loud'"));
  write("provider-urls = 'x'\n");
  EXPECT_THAT(refused(), HasSubstr("unknown key 'provider-urls'; did you mean 'provider-url'?"));
  write("");
  for (const char* empty : {"model", "state", "token", "timeline"}) {
    flags = {{empty, ""}};
    EXPECT_THAT(refused(), HasSubstr(std::string("--") + empty + " is empty"));
  }
  flags = {{"bind", "example.com"}};
  EXPECT_THAT(refused(), HasSubstr("--bind must be an IP address or localhost, got 'example.com'"));
  flags = {{"turn-timeout-ms", "0"}};
  EXPECT_THAT(refused(), HasSubstr("--turn-timeout-ms must be 1 to 86400000"));
  flags.clear();
  write("port = [1]\n");
  EXPECT_THAT(refused(), HasSubstr("port must be a text or a whole number"));
  path = folder.path() / "none.toml";
  EXPECT_THAT(refused(), HasSubstr("none.toml"));
}

TEST_F(ConfigTest, secrets_come_from_files_or_the_environment) {
  std::ofstream(folder.path() / "secret") << "sesame\n";
  flags["token-file"] = (folder.path() / "secret").string();
  variables["OPENAI_API_KEY"] = "key";
  const Config config = read();
  EXPECT_EQ(config.token, "sesame");
  EXPECT_EQ(config.provider.api_key, "key");
  std::ofstream(folder.path() / "secret") << "\n";
  EXPECT_THAT(refused(), HasSubstr("is empty"));
}

TEST_F(ConfigTest, nothing_listens_to_others_without_a_token) {
  Config config = read();
  EXPECT_NO_THROW(check_exposure(config));
  for (const char* address : {"0.0.0.0", "::", "192.168.1.2", "1270.0.0.1"}) {
    config.bind = address;
    EXPECT_THROW(check_exposure(config), Error) << address;
  }
  config.token = "sesame";
  EXPECT_NO_THROW(check_exposure(config));
}

TEST_F(ConfigTest, the_diagnostics_of_the_environment_name_the_timeline) {
  variables["OPENCLAW_DIAGNOSTICS_TIMELINE_PATH"] = "/tmp/t.jsonl";
  EXPECT_FALSE(read().timeline);
  variables["OPENCLAW_DIAGNOSTICS"] = "timeline";
  EXPECT_EQ(read().timeline, "/tmp/t.jsonl");
}

TEST(Settings, have_one_name_each_and_a_variable) {
  std::set<std::string_view> names;
  for (const Setting& setting : settings()) names.insert(setting.name);
  EXPECT_EQ(names.size(), settings().size());
  EXPECT_EQ(variable_of(*std::ranges::find(settings(), "max-concurrent", &Setting::name)),
            "TARE_GATEWAY_MAX_CONCURRENT");
}

TEST(Loopback, is_an_address_and_not_a_name_that_begins_as_one) {
  for (const char* address : {"127.0.0.1", "127.9.9.9", "::1", "localhost"})
    EXPECT_TRUE(is_loopback(address)) << address;
  for (const char* name :
       {"127.0.0.1.example", "127.example", "::1.example", "localhost.example", "0.0.0.0", ""})
    EXPECT_FALSE(is_loopback(name)) << name;
}

}  // namespace
}  // namespace tare::gateway
