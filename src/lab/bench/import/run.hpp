#pragma once

#include <functional>
#include <string>

#include "base/error.hpp"
#include "lab/bench/common/life.hpp"
#include "lab/bench/import/options.hpp"
#include "lab/driver/import_workspace.hpp"

/// The bench `import`: what it costs to boot an isolate and to load code into it, cold and warm, on every
/// target side by side. Each row has a fresh worker process on each lane, and the lanes take turns worker by
/// worker.
namespace tare::import_bench {

/// `before` is a state that find_state has found good; `save` keeps it, and is called after every stage, with
/// whole stages alone.
struct Request : bench::Order {
  Options options;
  driver::ImportSources sources = {};
  /// Takes a line for a person.
  std::function<void(const std::string&)> say;
  /// The targets are other programs than those of `before`: throws, or the run starts anew.
  std::function<void(const Error&)> on_other_targets;
};

/// Measures. A row that fails is in the document as failed, and the next one runs. Throws Error when nothing
/// can be measured: a target that is not there or whose driver does not start, programs that are not
/// installed.
bench::Result run(const Request& request, bench::Surroundings surroundings);

}  // namespace tare::import_bench
