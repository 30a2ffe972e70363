#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/gateway/session.hpp"

namespace tare::gateway {

struct ListQuery {
  std::size_t limit = 100;
  std::size_t bytes = 4 * 1024 * 1024;  ///< of rows; one is given in any case
  std::size_t offset = 0;
  enum class Which : std::uint8_t { current, archived, all };
  Which which = Which::current;
  enum class Activity : std::uint8_t { any, active };
  Activity activity = Activity::any;
};

/// Of a key such as "agent:main:chat"; "main" for others.
std::string_view agent_of(std::string_view key);

/// What every row says of the model.
struct ModelName {
  std::string provider;
  std::string model;
};

/// All sessions, kept in the order in which they were updated last, so that a page of the list is a walk over
/// its rows.
class Sessions {
 public:
  explicit Sessions(ModelName model) : model_(std::move(model)) {}

  /// Takes sessions in any order, at the start.
  void restore(std::vector<SessionRecord> records, SessionId last);

  /// A session that is listed, or null.
  std::shared_ptr<Session> find(std::string_view key) const;
  /// Also one that is coming. Never one that is going.
  std::shared_ptr<Session> find_or_coming(std::string_view key) const;
  std::shared_ptr<Session> find(SessionId id) const;
  /// Throws Refusal(unavailable) while a session with that key is being removed.
  void check_not_going(std::string_view key) const;
  /// A new session with an id of its own, not listed until `settle`; gone when nobody holds it before.
  std::shared_ptr<Session> make(std::string_view key, std::string_view agent, std::string_view cwd,
                                Millis now);
  /// It is on disk.
  void settle(const std::shared_ptr<Session>& session);
  void remove(Session& session);

  /// The session was updated: it is the first of the list now.
  void touch(Session& session, Millis now);
  /// Something that its row says has changed.
  void changed(Session& session) { session.row.clear(); }
  void shelve(Session& session, SessionRecord::Shelf shelf);

  std::size_t size() const { return by_key_.size(); }

  /// The payload of `sessions.list`.
  std::string list(const ListQuery& query, Millis now);
  /// One row, written once until it changes.
  const std::string& row(Session& session) const;
  /// The object `entry` of sessions.create, .patch and .describe.
  std::string entry(const Session& session) const;
  /// `{"modelProvider":…,"model":…}`
  std::string defaults() const;

 private:
  std::list<Session*>& order_of(SessionRecord::Shelf shelf);
  std::vector<Session*> page(const ListQuery& query, std::size_t& total);

  ModelName model_;
  std::unordered_map<std::string_view, std::shared_ptr<Session>> by_key_;  ///< the keys are the sessions' own
  std::unordered_map<SessionId, Session*> by_id_;
  mutable std::unordered_map<std::string, std::weak_ptr<Session>> coming_;
  std::list<Session*> current_;   ///< the latest first
  std::list<Session*> archived_;  ///< the latest first
  SessionId last_ = 0;
};

}  // namespace tare::gateway
