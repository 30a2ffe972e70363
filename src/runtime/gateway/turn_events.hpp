#pragma once

#include <string>

#include "runtime/gateway/hub.hpp"
#include "runtime/gateway/run.hpp"
#include "runtime/gateway/sessions.hpp"

/// The events of one turn, as text. Who gets them and in which order is the runner's affair.
namespace tare::gateway {

using Event = Hub::Event;

/// `sessions.changed`; `run` may be null.
Event sessions_changed(const Sessions& sessions, Session& session, std::string_view reason, Millis now,
                       const Run* run);
/// `session.message`
Event session_message(const Session& session, const Message& message);

/// `task` with the row that `tasks.list` has.
Event task_changed(const Run& run);
std::string task_row(const Run& run);

/// `agent`, streams lifecycle, assistant and usage. Each takes the run's next agent seq.
Event lifecycle_start(Run& run, Millis now);
Event lifecycle_end(Run& run, Millis now);
Event assistant_delta(Run& run, std::string_view delta, Millis now);
Event usage(Run& run, Millis now);

/// `chat`. Each takes the run's next chat seq.
Event chat_delta(Run& run, std::string_view delta, Millis now);
Event chat_end(Run& run, Millis now);

/// Payload of the first response of `agent`, and of one to a key that is running: status "accepted",
/// "in_flight".
std::string accepted(const Run& run, std::string_view status);
/// Payload of the second response of `agent`.
std::string final_result(const Run& run, std::string_view text);
/// Payload of `agent.wait` for a run that has ended.
std::string wait_result(const Run& run, std::string_view text);
/// Payload of `agent.wait` for one that has not, or is not known.
std::string wait_timeout(std::string_view run_key);

}  // namespace tare::gateway
