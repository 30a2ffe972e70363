#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "spawner/lane.hpp"

/// The driver's side of `tare.driver.v1`.
namespace tare::spawner {

/// The answer to one request line, without a newline, and whether it was the last.
struct Answer {
  std::string line;
  bool leave = false;
};
Answer answer(const Lane& lane, std::string_view request);

/// Answers the lines of stdin on stdout until `bye`, the end of stdin, or a lab that is gone. Returns the
/// exit code.
int serve(const Lane& lane);

}  // namespace tare::spawner
