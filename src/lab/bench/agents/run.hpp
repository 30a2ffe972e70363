#pragma once

#include <string_view>

#include "lab/bench/agents/options.hpp"
#include "lab/bench/common/life.hpp"
#include "lab/report/document.hpp"

/// The bench `agents`: what it costs a registry of agent runs to admit, spawn, register, settle, sweep and
/// dedupe, in memory and on disk, on every target side by side. Each row has a fresh worker process on each
/// lane, and the lanes take turns worker by worker.
namespace tare::agents_bench {

struct Request : bench::Order {
  Options options;
};

/// Measures. The first worker that fails, or whose answers are wrong, ends the run: the document is then
/// partial and names it, and `failure` says it in one line. Throws Error when nothing can be measured: a
/// target that is not there or whose driver does not start, a document that was measured by something else.
bench::Result run(const Request& request, bench::Surroundings surroundings);

/// The options of an interrupted run, checked against this program, this host's hardware and the flags.
/// Throws Error(input) that names the first difference; `source` names the document.
Options resumed_options(const report::Document& before, const RawOptions& raw, std::string_view source);

}  // namespace tare::agents_bench
