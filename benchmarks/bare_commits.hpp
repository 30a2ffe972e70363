#pragma once

#include <cstdint>

#include "registry_worker.hpp"

/// SQLite by itself, in a process of its own: what a registry that keeps its promise cannot go below.
namespace tare::benchmarks {

/// The median of a fresh worker's single commits of so many rows, each into a fresh database: nanoseconds.
double bare_commit_ns(std::int64_t rows, Shape shape);

/// One-row commits a second, one after the other in a fresh database.
double bare_commit_rate();

}  // namespace tare::benchmarks
