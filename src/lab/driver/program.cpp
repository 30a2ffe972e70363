#include "lab/driver/program.hpp"

#include <array>
#include <cerrno>
#include <memory>
#include <openssl/evp.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/fd.hpp"

namespace tare::driver {
namespace {

std::string sha256(int fd, const auto& fail) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) throw fail("no SHA-256");
  std::array<char, 1 << 16> block;
  for (;;) {
    const ssize_t n = ::read(fd, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw fail(errno_text(errno));
    if (n == 0) break;
    EVP_DigestUpdate(context.get(), block.data(), static_cast<std::size_t>(n));
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  EVP_DigestFinal_ex(context.get(), digest.data(), &size);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

WallTime wall_time(const timespec& time) {
  return WallTime(std::chrono::seconds(time.tv_sec) + std::chrono::milliseconds(time.tv_nsec / 1'000'000));
}

}  // namespace

ProgramFacts program_facts(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& why) {
    return Error(ErrorCode::input, "cannot read " + path.string(), why);
  };
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) throw fail(error.message());
  const Fd file(::open(real.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) throw fail(errno_text(errno));
  if (!S_ISREG(status.st_mode)) throw fail("it is not a file");
  return {real.string(), sha256(file.get(), fail), static_cast<std::uint64_t>(status.st_size),
          rfc3339(wall_time(status.st_mtim))};
}

}  // namespace tare::driver
