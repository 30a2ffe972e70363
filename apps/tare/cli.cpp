#include "cli.hpp"

#include <cerrno>

#include <unistd.h>

namespace tare::cli {

CLI::Option* add_text(CLI::App& app, const std::string& flag, std::optional<std::string>& value,
                      const std::string& description, const std::string& placeholder) {
  return app
      .add_option_function<std::string>(
          flag,
          [&value, flag](const std::string& text) {
            // The next flag is no value; to the library it is one.
            if (text.starts_with("--")) throw CLI::ArgumentMismatch::AtLeast(flag, 1, 0);
            value = text;
          },
          description)
      ->type_name(placeholder)
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

void write_stdout(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(ErrorCode::failed, "cannot write to standard output", errno_text(errno));
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void complain(Context& context, const Error& error) {
  context.err.write(error.line() + "\n");
}

}  // namespace tare::cli
