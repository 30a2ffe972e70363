#include "runtime/provider/request_log.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/json.hpp"

namespace tare::provider {

RequestLog::RequestLog(const std::filesystem::path& path)
    : path_(path), fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644)) {
  if (!fd_) {
    throw Error(ErrorCode::input, fmt::format("cannot open the request log '{}'", path.string()),
                errno_text(errno));
  }
  // Only the opening must not wait, for the reader of a pipe that nobody reads.
  ::fcntl(fd_.get(), F_SETFL, ::fcntl(fd_.get(), F_GETFL) & ~O_NONBLOCK);
}

void RequestLog::append(const LoggedRequest& request) {
  const std::string line = json::line(request) + "\n";
  ssize_t written = 0;
  do {
    written = ::write(fd_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size())) return;
  throw Error(ErrorCode::failed, fmt::format("cannot write the request log '{}'", path_.string()),
              written < 0 ? errno_text(errno) : "only a part of a line was taken",
              "what it counts is not complete");
}

}  // namespace tare::provider
