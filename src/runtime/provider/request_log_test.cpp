#include "runtime/provider/request_log.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace tare::provider {
namespace {

TEST(RequestLog, appends_a_line_for_each_request) {
  const file::TemporaryFolder folder;
  const auto path = folder.path() / "requests.jsonl";
  RequestLog(path).append({.seq = 1, .method = "GET", .path = "/v1/models", .status = 200, .arrived_ns = 5});
  RequestLog(path).append({.seq = 2,
                           .method = "POST",
                           .path = "/v1/responses",
                           .request_bytes = 9,
                           .marker = "é\n",
                           .arrived_ns = 6,
                           .outcome = Outcome::gone});
  EXPECT_EQ(
      file::read(path),
      R"({"seq":1,"method":"GET","path":"/v1/models","requestBytes":0,"status":200,"model":null,)"
      R"("stream":null,"tools":null,"afterTools":null,"maxOutputTokens":null,"marker":null,"chunks":null,)"
      R"("calls":null,"fault":null,"arrivedNs":5,"firstChunkNs":null,"lastChunkNs":null,"outcome":"ok"})"
      "\n"
      R"({"seq":2,"method":"POST","path":"/v1/responses","requestBytes":9,"status":null,"model":null,)"
      R"("stream":null,"tools":null,"afterTools":null,"maxOutputTokens":null,"marker":"é\n","chunks":null,)"
      R"("calls":null,"fault":null,"arrivedNs":6,"firstChunkNs":null,"lastChunkNs":null,"outcome":"gone"})"
      "\n");
}

TEST(RequestLog, a_full_disk_is_an_error_that_names_the_file) {
  RequestLog log("/dev/full");
  try {
    log.append({.seq = 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(
        error.line(),
        "tare: cannot write the request log '/dev/full' (No space left on device); what it counts is not "
        "complete");
  }
}

TEST(RequestLog, a_file_that_cannot_be_opened_is_refused) {
  EXPECT_THROW(RequestLog("/no/such/folder/requests.jsonl"), Error);
  const file::TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(RequestLog{pipe}, Error) << "nobody reads it";
}

}  // namespace
}  // namespace tare::provider
