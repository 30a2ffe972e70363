#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/gateway/handshake.hpp"

namespace tare::gateway {

struct Wait;

/// Where the frames of a connection go.
class Outlet {
 public:
  Outlet() = default;
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;
  virtual ~Outlet() = default;
  /// One frame of two parts, the first of which may be null. Never waits; what a closed connection is sent is
  /// lost.
  virtual void send(std::shared_ptr<const std::string> shared, std::string own) = 0;
};

/// A connection that has shaken hands. Its outlet is there as long as the connection is.
class Client {
 public:
  Client(std::string id, Hello hello, Outlet& outlet)
      : id_(std::move(id)), hello_(std::move(hello)), outlet_(&outlet) {}

  const std::string& id() const { return id_; }
  const Hello& hello() const { return hello_; }
  void respond(std::string frame) { outlet_->send(nullptr, std::move(frame)); }
  void event(const std::shared_ptr<const std::string>& text) { outlet_->send(text, event_end(++seq_)); }

  std::size_t watched() const { return watched_keys_.size(); }

  std::unordered_map<const Wait*, std::weak_ptr<Wait>> waits;  ///< of agent.wait, not answered yet

 private:
  friend class Hub;
  std::string id_;
  Hello hello_;
  Outlet* outlet_;
  std::uint64_t seq_ = 0;
  std::size_t place_ = 0;  // in the hub
  bool watches_sessions_ = false;
  std::unordered_set<std::string> watched_keys_;
};

/// A request's way back: valid as long as it is kept, of no effect once its connection is gone.
class Call {
 public:
  Call(const std::shared_ptr<Client>& client, std::string id) : client_(client), id_(std::move(id)) {}

  std::shared_ptr<Client> client() const { return client_.lock(); }
  void ok(std::string_view payload) const;
  void refuse(const Fault& fault) const;

 private:
  std::weak_ptr<Client> client_;
  std::string id_;
};

/// All clients, and who wants to hear what. An event is written once, whatever the number of its readers.
class Hub {
 public:
  using Event = std::shared_ptr<const std::string>;

  void add(Client& client);
  void remove(Client& client);
  std::size_t size() const { return clients_.size(); }
  std::uint64_t events() const { return events_; }

  void watch_sessions(Client& client);
  void unwatch_sessions(Client& client);
  void watch_messages(Client& client, const std::string& key);
  void unwatch_messages(Client& client, const std::string& key);
  std::size_t subscriptions() const;

  /// Everybody who may read.
  void to_operators(const Event& event);
  /// Who subscribed to sessions.
  void to_session_watchers(const Event& event);
  /// Who subscribed to sessions, or to the messages of this one.
  void to_message_watchers(const std::string& key, const Event& event);

 private:
  void give(Client& client, const Event& event);

  std::vector<Client*> clients_;
  std::unordered_set<Client*> session_watchers_;
  std::unordered_map<std::string, std::unordered_set<Client*>> message_watchers_;
  std::uint64_t events_ = 0;
};

}  // namespace tare::gateway
