#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What the gateway keeps on disk: sessions, their messages, the runs that add to them.
namespace tare::gateway {

using SessionId = std::int64_t;
using RunId = std::int64_t;
/// Milliseconds since 1970, as the protocol has them.
using Millis = std::int64_t;

struct SessionRecord {
  SessionId id = 0;
  std::string key;
  std::string uuid;
  std::string agent;
  std::string cwd;    ///< empty: none
  std::string label;  ///< empty: none
  enum class Shelf : std::uint8_t { current, archived };
  Shelf shelf = Shelf::current;
  std::int64_t revision = 1;
  Millis created = 0;
  Millis updated = 0;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
};

enum class Role : std::uint8_t { user, assistant, tool_result };
std::string_view name_of(Role role);

/// How a reply ended.
enum class Outcome : std::uint8_t {
  ok,
  failed,       ///< the provider, or the disk
  aborted,      ///< somebody asked for it
  timed_out,    ///< it took longer than a turn may
  interrupted,  ///< the gateway ended in the middle of it
};
std::string_view name_of(Outcome outcome);

struct Message {
  std::uint32_t seq = 0;  ///< from 1, within its session; may have gaps
  Role role = Role::user;
  Millis at = 0;
  std::string text;
  Outcome outcome = Outcome::ok;  ///< of an assistant's message: whether it is all that there was to come
};

/// Of the messages of a session.
struct Extent {
  std::size_t count = 0;
  std::uint32_t last_seq = 0;  ///< 0 for none
};

/// How much is read at once: so many messages, or fewer once their texts are so long together.
struct Span {
  std::size_t messages = 0;
  std::size_t bytes = 4 * 1024 * 1024;
};

struct RunRecord {
  RunId id = 0;
  std::string key;
  SessionId session = 0;
  std::string waiting;  ///< the user's text, until it is a message of the session
  Millis accepted = 0;
  std::optional<Millis> started;
  std::optional<Millis> ended;
  Outcome outcome = Outcome::ok;  ///< means something when it has ended
  std::string error;
  std::uint32_t reply = 0;  ///< seq of the reply's message; 0: none
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
};

/// What can be asked of the disk. A list of them is done as a whole or not at all.
struct AddSession {
  SessionRecord session;  ///< nothing happens when it is there
};
struct PatchSession {
  SessionId id = 0;
  std::optional<std::string> label;
  std::optional<SessionRecord::Shelf> shelf;
  Millis updated = 0;
};
struct RemoveSession {
  SessionId id = 0;
};
struct AddMessage {
  SessionId session = 0;
  Message message;
  Millis updated = 0;  ///< of the session from then on
};
struct AddRun {
  RunRecord run;
};
/// Its text is a message now.
struct StartRun {
  RunId id = 0;
  Millis at = 0;
};
struct EndRun {
  RunRecord run;
};
using Change = std::variant<AddSession, PatchSession, RemoveSession, AddMessage, AddRun, StartRun, EndRun>;

}  // namespace tare::gateway
