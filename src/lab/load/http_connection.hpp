#pragma once

#include <cstddef>
#include <list>
#include <string>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "lab/load/answer_reader.hpp"
#include "lab/load/http_requests.hpp"

namespace tare::load {

/// A connection of HttpRequests, with the request that it carries.
struct HttpConnection {
  explicit HttpConnection(std::size_t body_bytes) : reader(body_bytes) {}

  std::list<HttpConnection>::iterator self;
  Fd fd;
  bool connecting = false;
  bool was_kept = false;    ///< an earlier request was answered on it
  bool has_answer = false;  ///< a byte of an answer came
  std::size_t address = 0;  ///< of those of the server, which one it tries, or has
  std::string request;
  std::size_t given = 0;  ///< bytes of the request that the kernel took
  AnswerReader reader;
  HttpRequests::Answered answered;
  Instant sent;
  std::string broken;  ///< why it broke before anything waited for it
};

}  // namespace tare::load
