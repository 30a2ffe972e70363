#include "engine/isolate/mapped_file.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/fd.hpp"

namespace tare::engine {

std::string_view map_file(const std::filesystem::path& path, std::string_view what, Reading reading) {
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorCode::input, fmt::format("cannot use {} {}", what, path.string()), why);
  };
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts{};
  if (!fd || ::fstat(fd.get(), &facts) != 0) throw refuse(std::strerror(errno));
  if (facts.st_size == 0) throw refuse("it is empty");
  const auto size = static_cast<std::size_t>(facts.st_size);
  const int flags = MAP_PRIVATE | (reading == Reading::whole ? MAP_POPULATE : 0);
  void* memory = ::mmap(nullptr, size, PROT_READ, flags, fd.get(), 0);
  if (memory == MAP_FAILED) throw refuse(std::strerror(errno));
  return {static_cast<const char*>(memory), size};
}

}  // namespace tare::engine
