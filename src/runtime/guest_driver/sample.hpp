#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/describe.hpp>

namespace tare::guest_driver {

/// The parameters of a row, some needed by some rows only.
struct Params {
  std::optional<std::uint32_t> timeout_ms;
  std::optional<std::uint32_t> fanout;
  std::optional<std::uint32_t> guests;
  std::optional<std::uint32_t> processes;
  std::optional<std::uint32_t> warmup;
  std::optional<std::string> dir;  ///< a folder of the host
  std::optional<std::string> file;
  std::optional<std::string> content;
  std::optional<std::string> nonce;
  std::optional<std::uint64_t> bytes;
  std::optional<std::string> input;
  std::optional<std::string> entry;  ///< of an import row: the program, below dir
  std::optional<std::string> reuse;
  std::optional<std::string> cache;
  std::optional<std::string> cache_dir;
  std::optional<std::string> node_modules;
  std::optional<bool> fresh_process;
};
BOOST_DESCRIBE_STRUCT(Params, (),
                      (timeout_ms, fanout, guests, processes, warmup, dir, file, content, nonce, bytes, input,
                       entry, reuse, cache, cache_dir, node_modules, fresh_process))

/// How one process came and went, as the protocol has it; in a run that traces.
struct Lifecycle {
  std::string route;
  std::string first_waiter;
  std::map<std::string, std::uint64_t> waiters;
  std::map<std::string, std::int64_t> ns;
};
BOOST_DESCRIBE_STRUCT(Lifecycle, (), (route, first_waiter, waiters, ns))

/// One measured operation, as the protocol has it.
struct Sample {
  std::string outcome = "ok";
  std::optional<std::string> error;  ///< when it is not ok
  std::map<std::string, std::int64_t> ns;
  std::map<std::string, std::optional<std::uint64_t>> bytes;
  std::map<std::string, std::int64_t> counters;
  std::optional<std::string> output;
  std::optional<std::vector<Lifecycle>> lifecycle;  ///< one for each process of the rows that have it

  void fail(std::string how, std::string why) {
    outcome = std::move(how);
    error = std::move(why);
  }
};
BOOST_DESCRIBE_STRUCT(Sample, (), (outcome, error, ns, bytes, counters, output, lifecycle))

}  // namespace tare::guest_driver
