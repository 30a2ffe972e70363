#pragma once

#include <string>

#include <boost/describe.hpp>

#include "base/error.hpp"

namespace tare::driver {

/// What kind of thing went wrong with a driver.
BOOST_DEFINE_ENUM_CLASS(FailureKind,
                        cannot_start,       // the command could not be started
                        bad_hello,          // the answer to hello lacks something
                        protocol_mismatch,  // it speaks another protocol
                        garbage,            // a line that is not a JSON object
                        too_long,           // a line over 16 MiB
                        late,               // no answer before the deadline
                        twice,              // a second answer to one request
                        wrong_id,           // an answer to something that was not asked
                        no_answer,          // it closed stdout, or left with exit code 0
                        died,               // another exit code, or a signal
                        invalid_sample,     // times, counters or outcomes that cannot be
                        unsupported,        // it answered with an error, as the next three
                        invalid,            //
                        failed,             //
                        timeout,            //
                        interrupted)        // the lab was told to stop while it waited

/// A rule of the protocol that a line breaks, before anybody knows whose line it was.
/// `what` continues "driver 'x' ".
class Violation : public Error {
 public:
  Violation(FailureKind kind, const std::string& what, std::string why = {});
  FailureKind kind() const { return kind_; }

 private:
  FailureKind kind_;
};

/// What became of a request, for a person: "driver 'mine' died instead of answering (exit code 3); its
/// stderr ends: KeyError: 'fanout'".
class DriverFailure : public Error {
 public:
  DriverFailure(FailureKind kind, std::string_view driver, const std::string& what, std::string why,
                std::string stderr_tail);

  FailureKind kind() const { return kind_; }
  /// The end of what the driver wrote to stderr, as it wrote it.
  const std::string& stderr_tail() const { return stderr_tail_; }
  /// What happened and why, without the stderr: for a table or the `error` of a sample.
  std::string sentence() const;

 private:
  FailureKind kind_;
  std::string stderr_tail_;
};

}  // namespace tare::driver
