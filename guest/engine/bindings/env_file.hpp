#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tare::engine {

/// The names and values of a `.env` file, in its order; a later one of the same name is meant to win. The
/// rules are those of Node's util.parseEnv: `#` starts a comment outside quotes, quotes may span lines, `\n`
/// within double quotes is a line break, lines without `=` say nothing.
std::map<std::string, std::string> parse_env(std::string_view text);

}  // namespace tare::engine
