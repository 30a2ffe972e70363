#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "lab/bench/gateway/checks.hpp"
#include "lab/bench/gateway/options.hpp"
#include "lab/bench/gateway/script.hpp"
#include "lab/bench/gateway/wakeup.hpp"
#include "lab/gateway/client.hpp"
#include "lab/load/series.hpp"

namespace tare::gateway_bench {

/// One turn of a session, as its client saw it.
struct Turn {
  std::uint64_t session = 0;
  Line line = {};
  std::string run_id = {};
  Instant sent{};
  std::optional<Instant> accepted = {};
  std::optional<Instant> first_token = {};  ///< the first text that is not empty
  std::optional<Instant> last_token = {};
  std::optional<Instant> completed = {};  ///< agent.wait was answered
  bool settled = false;                   ///< the second response of `agent` came, or none is to come
  std::string streamed = {};              ///< all that came in deltas
  std::string final_text = {};            ///< of the chat's last message
  bool chat_ended = false;
  std::uint64_t chat_seq = 0;
  std::uint64_t agent_seq = 0;
};

/// The turns of one phase: each session has one after the other, all sessions at once, over one or several
/// connections. A session belongs to one of them; the events of the others are only counted, as every
/// connection of an operator gets all. One thread.
class Turns {
 public:
  struct Plan {
    Phase phase = Phase::load;
    std::vector<std::uint64_t> sessions;  ///< by number
    std::uint64_t turns_per_session = 1;
    Instant deadline;       ///< of the last turn's end
    bool exact = true;      ///< replies are compared; else they only must not be empty
    bool exclusive = true;  ///< nobody else starts runs in these sessions
  };
  /// All must outlive this object.
  Turns(std::vector<lab_gateway::Client*> clients, const Options& options, const Script& script,
        Wakeup& wakeup, Plan plan);

  /// Starts the first turn of each session.
  void begin();
  /// Takes what a connection hears.
  void take_event(std::size_t client, const lab_gateway::Event& event);

  /// Every session's first turn was accepted.
  bool all_started() const { return started_ == plan_.sessions.size(); }
  /// Every turn is completed, or one went wrong.
  bool done() const { return failure_ || completed_ == expected(); }
  /// And its last response has come.
  bool settled() const { return done() && (failure_ || settled_ == expected()); }
  std::uint64_t expected() const { return plan_.sessions.size() * plan_.turns_per_session; }
  std::uint64_t completed() const { return completed_; }
  std::uint64_t running() const { return accepted_ - completed_; }
  /// What went wrong with a turn, in one line.
  const std::optional<std::string>& failure() const { return failure_; }

  const std::vector<std::shared_ptr<Turn>>& turns() const { return turns_; }
  const load::Series& gaps() const { return gaps_; }  ///< between texts of one turn
  /// Looks at what can be said only at the end, and gives all.
  const Checks& conclude();

 private:
  struct Session {
    std::uint64_t begun = 0;
    std::vector<std::shared_ptr<Turn>> turns;
  };

  lab_gateway::Client& client_of(std::size_t place) { return *clients_[place % clients_.size()]; }
  void next(std::size_t place);
  void take_response(std::size_t place, const std::shared_ptr<Turn>& turn, const lab_gateway::Answer& answer);
  void accept(std::size_t place, const std::shared_ptr<Turn>& turn, const lab_gateway::Answer& answer);
  void wait(std::size_t place, const std::shared_ptr<Turn>& turn);
  void complete(std::size_t place, const std::shared_ptr<Turn>& turn, const lab_gateway::Answer& answer);
  void take_chat(Turn& turn, const lab_gateway::Event& event);
  void take_agent(Turn& turn, const lab_gateway::Event& event);
  void take_text(Turn& turn, Instant at);
  void check_reply(const Turn& turn, std::string_view waited);
  Turn* turn_of(std::size_t place, std::string_view payload);
  void fail(const Turn& turn, std::string_view what);

  std::vector<lab_gateway::Client*> clients_;
  const Options& options_;
  const Script& script_;
  Wakeup& wakeup_;
  Plan plan_;
  std::uint64_t first_session_ = 0;
  std::vector<Session> sessions_;
  std::vector<std::shared_ptr<Turn>> turns_;
  load::Series gaps_;
  Checks checks_;
  std::size_t started_ = 0;
  std::uint64_t accepted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t settled_ = 0;
  std::optional<std::string> failure_;
};

}  // namespace tare::gateway_bench
