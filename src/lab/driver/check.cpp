#include "lab/driver/check.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/driver/check_rows.hpp"
#include "lab/driver/raw_session.hpp"

namespace tare::driver {
namespace {

/// A second is long for an answer that needs no work, and short for somebody who waits.
constexpr auto quick = std::chrono::seconds(5);
constexpr auto settle = std::chrono::milliseconds(100);

std::string request(json::Object object) {
  return json::line(json::Value(std::move(object)));
}

class Checker {
 public:
  Checker(const DriverCommand& command, const CheckOptions& options,
          const std::function<void(const CheckResult&)>& on_result)
      : command_(command), options_(options), on_result_(on_result) {
    if (!options_.driver.roster) options_.driver.roster = std::make_shared<Roster>();
  }

  std::vector<CheckResult> run() {
    check("hello", [&] { return hello(); });
    if (!rows_) return results_;
    check("unknown_field", [&] { return unknown_field(); });
    check("unknown_op", [&] { return unknown_op(); });
    check("unknown_row", [&] { return unknown_row(); });
    check("other_protocol", [&] { return other_protocol(); });
    check("bad_line", [&] { return bad_line(); });
    check("ids", [&] { return ids(); });
    for (const Workload& workload : rows_->offered())
      check("row " + workload.row, [&] { return rows_->row(workload); });
    check("iterations", [&] { return rows_->iterations(); });
    check("timeout", [&] { return rows_->timeout(); });
    if (rows_->keeps_runs()) check("other_size", [&] { return rows_->other_size(); });
    if (rows_->keeps_state()) {
      check("state_folder", [&] { return rows_->state_folder(); });
      check("full_folder", [&] { return rows_->full_folder(); });
    }
    check("bye", [&] { return rows_->bye(); });
    check("end_of_input", [&] { return end_of_input(); });
    check("stdout_only", [&] { return stdout_only(); });
    check("nothing_left", [&] { return nothing_left(); });
    return results_;
  }

 private:
  /// Runs one check; `body` returns what it saw, or throws.
  template <class Body>
  void check(std::string id, Body&& body) {
    CheckResult result{std::move(id), CheckStatus::pass, {}};
    try {
      result.text = body();
    } catch (const Skipped& skipped) {
      result.status = CheckStatus::skip;
      result.text = skipped.text;
    } catch (const Failed& failed) {
      result.status = CheckStatus::fail;
      result.text = failed.text;
    } catch (const DriverFailure& failure) {
      if (failure.kind() == FailureKind::interrupted) throw;
      result.status = CheckStatus::fail;
      result.text = failure.sentence() + (failure.hint().empty() ? "" : "; " + failure.hint());
    } catch (const Violation& violation) {
      if (violation.kind() == FailureKind::interrupted) {
        throw DriverFailure(violation.kind(), command_.label, violation.what(), violation.why(), {});
      }
      result.status = CheckStatus::fail;
      result.text = fmt::format("it {} ({})", violation.what(), violation.why());
    } catch (const Error& error) {
      result.status = CheckStatus::fail;
      result.text = fmt::format("{} ({})", error.what(), error.why());
    }
    result.text = text::one_line(result.text);
    if (on_result_) on_result_(result);
    results_.push_back(std::move(result));
  }

  std::string hello() {
    Driver driver(command_, options_.driver);
    const Hello hello = driver.hello();
    rows_ = std::make_unique<RowChecks>(command_, options_, hello);
    strays_ += driver.bye().strays.killed;
    if (hello.rows.empty()) throw Failed{"it offers no row"};
    const std::vector<std::string> unknown = rows_->unknown();
    return fmt::format("{} {}, {}, {} rows{}", hello.name, hello.version, hello.engine, hello.rows.size(),
                       unknown.empty() ? "" : "; this version does not know " + text::join(unknown, ", "));
  }

  std::string unknown_field() {
    const auto session = greeted(R"({"id":0,"op":"hello","protocol":"tare.driver.v1","mood":{"any":[1]}})");
    return "ignored";
  }

  std::string unknown_op() {
    const auto session = greeted();
    want_error(answer(*session, R"({"id":1,"op":"dance"})", quick), "unsupported", 1);
    return "answered with unsupported";
  }

  std::string unknown_row() {
    const auto session = greeted();
    const std::string line =
        R"({"id":1,"op":"sample","row":"no_such_row","params":{"timeoutMs":1000},"iterations":1})";
    want_error(answer(*session, line, quick), "unsupported", 1);
    return "answered with unsupported";
  }

  std::string other_protocol() {
    const auto session = start();
    const Reply reply = answer(*session, R"({"id":0,"op":"hello","protocol":"tare.driver.v999"})",
                               options_.driver.hello_timeout);
    want_error(reply, "unsupported", 0);
    return "answered with unsupported";
  }

  std::string bad_line() {
    const auto session = greeted();
    bool ignored = false;
    for (const std::string_view line : {"this is not JSON", "[1,2]"}) {
      const auto reply = session->ask(line, std::chrono::seconds(1));
      if (!reply && session->gone(settle)) throw Failed{fmt::format("it left when it was sent '{}'", line)};
      ignored = ignored || !reply;
      if (!reply) continue;
      if (reply->ok) throw Failed{fmt::format("it answered '{}' with ok", line)};
      if (reply->id)
        throw Failed{fmt::format("its answer to '{}' has the id {} instead of null", line, *reply->id)};
      if (reply->error->code != "invalid") {
        throw Failed{fmt::format("it answered '{}' with {} instead of invalid", line, reply->error->code)};
      }
    }
    want_error(answer(*session, R"({"id":2,"op":"dance"})", quick), "unsupported", 2);
    return ignored ? "survived without an answer; better: invalid, with the id null"
                   : "answered with invalid, and it goes on";
  }

  std::string ids() {
    const auto session = greeted();
    for (const std::int64_t id : {std::int64_t{17}, std::int64_t{4'294'967'297}}) {
      want_error(answer(*session, request({{"id", id}, {"op", "dance"}}), quick), "unsupported", id);
    }
    return "echoed, also beyond 32 bits";
  }

  std::string end_of_input() {
    const auto session = greeted();
    session->close_input();
    if (!session->gone(options_.driver.bye_timeout)) {
      throw Failed{
          fmt::format("it is still there {} s after the end of stdin",
                      text::significant(std::chrono::duration<double>(options_.driver.bye_timeout).count()))};
    }
    return "left";
  }

  std::string stdout_only() {
    const auto session = greeted();
    if (const auto line = session->extra_line(settle)) {
      throw Failed{fmt::format("after hello it wrote '{}'", line->substr(0, 60))};
    }
    if (!answer(*session, R"({"id":1,"op":"bye"})", quick).ok) throw Failed{"it answered bye with an error"};
    if (const auto line = session->extra_line(settle)) {
      throw Failed{fmt::format("after bye it wrote '{}'", line->substr(0, 60))};
    }
    return "carries answers and nothing else";
  }

  /// Over all the sessions before.
  std::string nothing_left() {
    const std::size_t strays = strays_ + rows_->strays();
    if (strays > 0) throw Failed{fmt::format("{} processes were left behind and had to be killed", strays)};
    return "no process";
  }

  /// A raw session that counts what it leaves when it ends as it should.
  std::shared_ptr<RawSession> start() {
    return {new RawSession(command_, options_.driver), [this](RawSession* session) {
              session->close_input();
              const bool polite = session->gone(options_.driver.bye_timeout);
              const std::size_t strays = session->finish();
              if (polite) strays_ += strays;
              delete session;
            }};
  }

  std::shared_ptr<RawSession> greeted(
      std::string_view line = R"({"id":0,"op":"hello","protocol":"tare.driver.v1"})") {
    auto session = start();
    const Reply reply = answer(*session, line, options_.driver.hello_timeout);
    if (!reply.ok) throw Failed{"hello was answered with an error: " + reply.error->message};
    return session;
  }

  Reply answer(RawSession& session, std::string_view line, Nanoseconds wait) {
    auto reply = session.ask(line, wait);
    if (reply) return *std::move(reply);
    const std::string_view shown = line.substr(0, 60);
    if (session.gone(settle)) {
      const std::string tail = text::tail(session.stderr_tail(), 3, 300);
      throw Failed{fmt::format("it left instead of answering '{}'{}", shown,
                               tail.empty() ? "" : "; its stderr ends: " + tail)};
    }
    throw Failed{fmt::format("no answer to '{}' within {} s", shown,
                             text::significant(std::chrono::duration<double>(wait).count()))};
  }

  static void want_error(const Reply& reply, std::string_view code, std::int64_t id) {
    if (reply.ok) throw Failed{"it answered with ok"};
    if (reply.id != id) {
      throw Failed{fmt::format("the id of the answer is {} instead of {}",
                               reply.id ? std::to_string(*reply.id) : "null", id)};
    }
    if (reply.error->code != code)
      throw Failed{fmt::format("it answered with {} instead of {}", reply.error->code, code)};
  }

  DriverCommand command_;
  CheckOptions options_;
  const std::function<void(const CheckResult&)>& on_result_;
  std::unique_ptr<RowChecks> rows_;  ///< once it has said which it has
  std::size_t strays_ = 0;
  std::vector<CheckResult> results_;
};

}  // namespace

std::vector<CheckResult> check_driver(const DriverCommand& command, const CheckOptions& options,
                                      const std::function<void(const CheckResult&)>& on_result) {
  return Checker(command, options, on_result).run();
}

bool conforms(const std::vector<CheckResult>& results) {
  return std::none_of(results.begin(), results.end(),
                      [](const CheckResult& result) { return result.status == CheckStatus::fail; });
}

}  // namespace tare::driver
