#include "runtime/gateway/hub.hpp"

#include <algorithm>

namespace tare::gateway {

void Call::ok(std::string_view payload) const {
  if (const auto client = client_.lock()) client->respond(response_text(id_, payload));
}

void Call::refuse(const Fault& fault) const {
  if (const auto client = client_.lock()) client->respond(response_text(id_, fault));
}

void Hub::add(Client& client) {
  client.place_ = clients_.size();
  clients_.push_back(&client);
}

void Hub::remove(Client& client) {
  clients_.back()->place_ = client.place_;
  std::swap(clients_[client.place_], clients_.back());
  clients_.pop_back();
  unwatch_sessions(client);
  while (!client.watched_keys_.empty()) unwatch_messages(client, std::string(*client.watched_keys_.begin()));
}

void Hub::watch_sessions(Client& client) {
  client.watches_sessions_ = true;
  session_watchers_.insert(&client);
}

void Hub::unwatch_sessions(Client& client) {
  client.watches_sessions_ = false;
  session_watchers_.erase(&client);
}

void Hub::watch_messages(Client& client, const std::string& key) {
  if (client.watched_keys_.insert(key).second) message_watchers_[key].insert(&client);
}

void Hub::unwatch_messages(Client& client, const std::string& key) {
  if (client.watched_keys_.erase(key) == 0) return;
  const auto watchers = message_watchers_.find(key);
  watchers->second.erase(&client);
  if (watchers->second.empty()) message_watchers_.erase(watchers);
}

std::size_t Hub::subscriptions() const {
  std::size_t count = session_watchers_.size();
  for (const auto& [key, watchers] : message_watchers_) count += watchers.size();
  return count;
}

void Hub::give(Client& client, const Event& event) {
  ++events_;
  client.event(event);
}

void Hub::to_operators(const Event& event) {
  for (Client* client : clients_) {
    if (client->hello().scopes.cover(Scope::read)) give(*client, event);
  }
}

void Hub::to_session_watchers(const Event& event) {
  for (Client* client : session_watchers_) give(*client, event);
}

void Hub::to_message_watchers(const std::string& key, const Event& event) {
  for (Client* client : session_watchers_) give(*client, event);
  const auto watchers = message_watchers_.find(key);
  if (watchers == message_watchers_.end()) return;
  for (Client* client : watchers->second) {
    if (!client->watches_sessions_) give(*client, event);
  }
}

}  // namespace tare::gateway
