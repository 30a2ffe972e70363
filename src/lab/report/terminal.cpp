#include "lab/report/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.hpp"

namespace tare::report {
namespace {

constexpr std::size_t widest = 10'000;

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<std::size_t> positive(const std::optional<std::string>& text) {
  const auto number = text ? text::to_int(*text) : std::nullopt;
  if (!number || *number < 1) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

}  // namespace

std::string paint(std::string_view text, Tone tone, Colour colour) {
  if (colour == Colour::off || tone == Tone::plain || text.empty()) return std::string(text);
  const std::string_view code = tone == Tone::good ? "32" : tone == Tone::warn ? "33" : "31";
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

TerminalFacts decide(const TerminalProbe& probe) {
  TerminalFacts facts;
  facts.interactive = probe.device == TerminalProbe::Device::terminal && probe.term != "dumb";
  const bool refused = probe.no_color && !probe.no_color->empty();
  facts.colour = facts.interactive && !refused ? Colour::on : Colour::off;
  std::optional<std::size_t> width = positive(probe.columns);
  // A terminal that does not know its size says 0.
  if (!width && probe.device_columns != 0) width = probe.device_columns;
  facts.width = std::clamp<std::size_t>(width.value_or(default_width), 1, widest);
  return facts;
}

TerminalFacts DescriptorTerminal::facts() const {
  TerminalProbe probe;
  if (::isatty(fd_) == 1) probe.device = TerminalProbe::Device::terminal;
  winsize size{};
  if (::ioctl(fd_, TIOCGWINSZ, &size) == 0) probe.device_columns = size.ws_col;
  probe.columns = environment("COLUMNS");
  probe.no_color = environment("NO_COLOR");
  probe.term = environment("TERM");
  return decide(probe);
}

void DescriptorTerminal::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd_, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd ready{fd_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace tare::report
