#include "lab/bench/gateway/seeding.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.hpp"

namespace tare::gateway_bench {
namespace {

constexpr std::uint64_t seeders = 16;

}  // namespace

std::string synthetic_message(std::uint64_t session, std::uint64_t message, std::uint64_t chars) {
  const std::string marker = fmt::format("Synthetic history {}/{}. ", session + 1, message + 1);
  std::string text;
  while (text.size() < chars) text += marker;
  text.resize(chars);
  return text;
}

Seeding::Seeding(lab_gateway::Client& client, const Options& options, std::filesystem::path root,
                 Wakeup& wakeup)
    : client_(client), options_(options), root_(std::move(root)), wakeup_(wakeup) {
  for (std::uint64_t i = 0; i < std::min(seeders, options_.sessions()); ++i) next();
}

void Seeding::next() {
  if (next_ < options_.sessions()) create(next_++);
}

void Seeding::create(std::uint64_t session) {
  json::Object params{{"key", session_key(session)}, {"agentId", "main"}};
  if (options_.workspace_fanout) {
    const std::filesystem::path folder = root_ / fmt::format("workspace-{}", session + 1);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
      failure_ = fmt::format("cannot make {} ({})", folder.string(), error.message());
      return wakeup_.notify();
    }
    params["cwd"] = folder.string();
  }
  ask("sessions.create", json::line(json::Value(params)), [this, session] { inject(session, 0); });
}

void Seeding::inject(std::uint64_t session, std::uint64_t message) {
  if (message == options_.history_messages) {
    seeded_ += 1;
    wakeup_.notify();
    return next();
  }
  const json::Value params{{"sessionKey", session_key(session)},
                           {"message", synthetic_message(session, message, options_.history_message_chars)}};
  ask("chat.inject", json::line(params), [this, session, message] { inject(session, message + 1); });
}

void Seeding::ask(std::string_view method, const std::string& params, std::function<void()> then) {
  client_.ask(method, params, lab_gateway::rpc_limit,
              [this, then = std::move(then)](const lab_gateway::Answer& answer) {
                if (answer.outcome == load::Outcome::censored || failure_) return;
                if (answer.outcome == load::Outcome::ok) return then();
                failure_ = answer.error;
                wakeup_.notify();
              });
}

}  // namespace tare::gateway_bench
