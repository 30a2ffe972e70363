#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

namespace tare::engine {

/// What `import {x} from` a CommonJS module may name, found without running it: by the shapes that people and
/// compilers write exports in, the ones that Node's documentation promises to see.
struct CjsExports {
  std::vector<std::string> names;      ///< in the order of their first mention
  std::vector<std::string> reexports;  ///< specifiers whose exports are exports of this module, too
};
BOOST_DESCRIBE_STRUCT(CjsExports, (), (names, reexports))

/// Nothing for what isn't CommonJS: an ES module, or source that doesn't parse.
CjsExports find_cjs_exports(std::string_view source);

}  // namespace tare::engine
