#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tare::report {

enum class Colour { off, on };

/// What a piece of text is, for those who see colour: only verdicts and failures are marked.
enum class Tone { plain, good, warn, bad };

/// `text` in the colour of its tone, or as it is.
std::string paint(std::string_view text, Tone tone, Colour colour);

/// Where no terminal says how wide it is: a file, a pipe, a log.
inline constexpr std::size_t default_width = 100;

/// What decides how to write to a descriptor.
struct TerminalProbe {
  enum class Device { terminal, other };
  Device device = Device::other;
  std::optional<std::size_t> device_columns;  ///< what the device itself says
  std::optional<std::string> columns;         ///< $COLUMNS; when it is a number it beats the device
  std::optional<std::string> no_color;        ///< $NO_COLOR; any text but "" turns colour off
  std::optional<std::string> term;            ///< $TERM; "dumb" has neither colour nor a cursor to move
};

struct TerminalFacts {
  bool interactive = false;  ///< lines can be rewritten
  Colour colour = Colour::off;
  std::size_t width = default_width;  ///< 1..10,000
};

TerminalFacts decide(const TerminalProbe& probe);

/// Where a report is written to. Not thread-safe.
class Terminal {
 public:
  virtual ~Terminal() = default;
  virtual TerminalFacts facts() const = 0;
  /// Writes all of it. A reader that went away is no error: a report is then for nobody.
  virtual void write(std::string_view text) = 0;
};

/// An open descriptor, such as 2. It stays the caller's.
class DescriptorTerminal final : public Terminal {
 public:
  explicit DescriptorTerminal(int fd) : fd_(fd) {}
  TerminalFacts facts() const override;  ///< asks anew each time: windows change their size
  void write(std::string_view text) override;

 private:
  int fd_;
};

}  // namespace tare::report
