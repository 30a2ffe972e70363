#pragma once

#include <string>

#include "lab/process/child.hpp"
#include "protocol/socket.hpp"
#include "runtime/guest/engine.hpp"

/// A guest that gives back what it is sent, and the bare program that it is held against.
namespace tare::benchmarks {

/// A guest that copies its stdin to its stdout.
class GuestEcho {
 public:
  explicit GuestEcho(guest::Execution execution);

  /// `back` is as many bytes as the block has. Throws Broken when they do not come.
  void round_trip(const std::string& block, std::string& back);

  /// Ends its input. Throws Broken unless it leaves with exit code 0.
  void leave();

 private:
  guest::Execution execution_;
};

/// The same by a few lines of C, over the same kind of socket.
class BareEcho {
 public:
  BareEcho();

  void round_trip(const std::string& block, std::string& back);
  void leave();

 private:
  guest::SocketPair pair_;
  process::Child child_;
};

/// How long the block was under way, in µs. Throws Broken when another one came back.
double round_trip_us(GuestEcho& echo, const std::string& block);
double round_trip_us(BareEcho& echo, const std::string& block);

}  // namespace tare::benchmarks
