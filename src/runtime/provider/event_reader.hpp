#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.hpp"
#include "runtime/provider/events.hpp"
#include "runtime/provider/request.hpp"

namespace tare::provider {

/// Makes events of the server-sent events of one reply. What it does not know is skipped: servers send more
/// than clients need, and more every year.
class EventReader {
 public:
  EventReader() = default;
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;
  virtual ~EventReader() = default;

  /// The data of one server-sent event. Throws Failure: garbage when it is not JSON, reported when it is an
  /// error of the server.
  void feed(std::string_view data);
  /// The stream is at its end. Throws Failure(cut) unless the reply is whole.
  void end();

  /// The events since the last call.
  Events take();
  /// Whether Done was given.
  bool done() const { return done_; }

 protected:
  /// One event of the dialect; `object` is null when it is JSON of another kind.
  virtual void read(const json::Object* object) = 0;
  /// The server says that it has said all.
  virtual void finish() = 0;

  void text(std::string_view delta);
  template <class T>
  void add(T event) {
    events_.emplace_back(std::in_place_type<T>, std::move(event));
  }
  void complete(StopReason reason);

 private:
  Events events_;
  bool done_ = false;
};

std::unique_ptr<EventReader> event_reader(Dialect dialect);

/// The failure that an `error` object of either dialect reports: its message, bounded and on one line.
std::string error_text(const json::Object* error);

}  // namespace tare::provider
