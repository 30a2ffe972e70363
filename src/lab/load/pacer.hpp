#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "lab/load/timetable.hpp"

namespace tare::load {

/// Calls `start` at the moments of a schedule, on the thread of the io_context. Starts that are due at the
/// same turn of the loop are all made, each with its own moment: nothing is left out and nothing is made up.
class Pacer {
 public:
  /// `due` is the moment of the schedule, `index` counts from 0. With a closed pace, `ended` must be called
  /// once the round is over.
  using Start = std::function<void(std::uint64_t index, Instant due)>;
  Pacer(boost::asio::io_context& io, Schedule schedule, Start start);
  ~Pacer();
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;

  void begin();
  /// The round that started last is over. Nothing with an open pace.
  void ended();
  /// No start is made any more.
  void stop();
  std::uint64_t started() const;
  /// All rounds were started (and, of a closed pace, are over), or it was stopped.
  bool done() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tare::load
