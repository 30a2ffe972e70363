#include "runtime/gateway/methods.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runtime/gateway/json_text.hpp"
#include "runtime/gateway/schema.hpp"

namespace tare::gateway {
namespace {

constexpr auto required = Need::required;

constexpr std::array<Field, 0> nothing{};
constexpr std::array key_only{Field{"key", Kind::name, required}};
constexpr std::array visibility_fields{Field{"visible", Kind::boolean, required}};
constexpr std::array create_fields{Field{"key", Kind::name, required}, Field{"agentId", Kind::name},
                                   Field{"cwd", Kind::text}, Field{"label", Kind::text}};
constexpr std::array list_fields{Field{"limit", Kind::whole}, Field{"offset", Kind::whole},
                                 Field{"archived", Kind::boolean_or_text},
                                 Field{"activeOnly", Kind::boolean}};
constexpr std::array patch_fields{Field{"key", Kind::name, required}, Field{"label", Kind::text_or_null},
                                  Field{"archived", Kind::boolean}};
constexpr std::array delete_fields{Field{"key", Kind::name, required},
                                   Field{"deleteTranscript", Kind::boolean}};
constexpr std::array inject_fields{Field{"sessionKey", Kind::name, required},
                                   Field{"message", Kind::name, required}};
constexpr std::array history_fields{Field{"sessionKey", Kind::name, required}, Field{"limit", Kind::whole},
                                    Field{"before", Kind::whole}};
constexpr std::array agent_fields{Field{"sessionKey", Kind::name, required},
                                  Field{"message", Kind::name, required}, Field{"deliver", Kind::boolean},
                                  Field{"idempotencyKey", Kind::name, required},
                                  Field{"agentId", Kind::name}};
constexpr std::array wait_fields{Field{"runId", Kind::name, required}, Field{"timeoutMs", Kind::whole}};
constexpr std::array abort_fields{Field{"runId", Kind::name}, Field{"sessionKey", Kind::name}};
constexpr std::array status_fields{Field{"includeChannelSummary", Kind::boolean}};
constexpr std::array cron_list_fields{Field{"includeDisabled", Kind::boolean}};

constexpr std::array<std::string_view, 8> events{"connect.challenge", "agent", "chat", "session.message",
                                                 "sessions.changed",  "task",  "tick", "shutdown"};

void append_names(std::string& out, const auto& names, auto name) {
  out += '[';
  for (const auto& each : names) {
    if (out.back() != '[') out += ',';
    append_string(out, name(each));
  }
  out += ']';
}

}  // namespace

struct Methods::Entry {
  std::string_view name;
  Scope scope;
  enum class Shape : std::uint8_t { closed, open };
  Shape shape;
  Schema schema;
  void (Methods::*run)(const Call&, const Params&);
};

std::span<const Methods::Entry> Methods::table() {
  constexpr auto closed = Entry::Shape::closed;
  constexpr auto open = Entry::Shape::open;
  static const std::array entries{
      Entry{"agent", Scope::write, closed, agent_fields, &Methods::agent},
      Entry{"agent.abort", Scope::write, closed, abort_fields, &Methods::abort},
      Entry{"agent.wait", Scope::read, closed, wait_fields, &Methods::wait},
      Entry{"chat.abort", Scope::write, closed, abort_fields, &Methods::abort},
      Entry{"chat.history", Scope::read, closed, history_fields, &Methods::history},
      Entry{"chat.inject", Scope::admin, closed, inject_fields, &Methods::inject},
      Entry{"cron.add", Scope::admin, open, nothing, &Methods::cron_change},
      Entry{"cron.list", Scope::read, closed, cron_list_fields, &Methods::cron_list},
      Entry{"cron.remove", Scope::admin, open, nothing, &Methods::cron_change},
      Entry{"cron.run", Scope::admin, open, nothing, &Methods::cron_change},
      Entry{"cron.status", Scope::read, closed, nothing, &Methods::cron_status},
      Entry{"health", Scope::read, open, nothing, &Methods::health},
      Entry{"sessions.create", Scope::write, closed, create_fields, &Methods::create_session},
      Entry{"sessions.delete", Scope::admin, closed, delete_fields, &Methods::delete_session},
      Entry{"sessions.describe", Scope::read, closed, key_only, &Methods::describe_session},
      Entry{"sessions.list", Scope::read, closed, list_fields, &Methods::list_sessions},
      Entry{"sessions.messages.subscribe", Scope::read, closed, key_only, &Methods::subscribe_messages},
      Entry{"sessions.messages.unsubscribe", Scope::read, closed, key_only, &Methods::unsubscribe_messages},
      Entry{"sessions.observer.visibility", Scope::read, closed, visibility_fields,
            &Methods::observer_visibility},
      Entry{"sessions.patch", Scope::admin, closed, patch_fields, &Methods::patch_session},
      Entry{"sessions.subscribe", Scope::read, closed, nothing, &Methods::subscribe_sessions},
      Entry{"sessions.unsubscribe", Scope::read, closed, nothing, &Methods::unsubscribe_sessions},
      Entry{"status", Scope::read, closed, status_fields, &Methods::status},
      Entry{"tasks.list", Scope::read, closed, nothing, &Methods::tasks},
  };
  return entries;
}

Methods::Methods(Parts parts, MethodLimits limits)
    : parts_(std::move(parts)), limits_(limits), started_(now()) {}

std::string Methods::features() {
  std::string out;
  ObjectText object(out);
  append_names(object.value("methods"), table(), [](const Entry& entry) { return entry.name; });
  append_names(object.value("events"), events, [](std::string_view name) { return name; });
  object.json("capabilities", "[]").close();
  return out;
}

void Methods::handle(const std::shared_ptr<Client>& client, const RequestFrame& frame) {
  const Call call(client, frame.id);
  const std::span<const Entry> entries = table();
  const auto entry = std::ranges::lower_bound(entries, std::string_view(frame.method), {}, &Entry::name);
  if (entry == entries.end() || entry->name != frame.method) {
    ++counts_["unknown"].refused;
    call.refuse(Refusal(Code::invalid_request, "unknown method: " + frame.method).fault());
    return;
  }
  Count& count = counts_[entry->name];
  ++count.requests;
  try {
    if (!client->hello().scopes.cover(entry->scope)) {
      std::string details;
      ObjectText(details)
          .text("code", "MISSING_SCOPE")
          .text("missingScope", name_of(entry->scope))
          .json("requiredScopes", fmt::format("[\"{}\"]", name_of(entry->scope)))
          .close();
      throw Refusal(Fault{Code::forbidden, fmt::format("missing scope: {}", name_of(entry->scope)), details});
    }
    if (entry->shape == Entry::Shape::closed)
      check(fmt::format("invalid {} params", entry->name), "root", frame.params, entry->schema);
    (this->*entry->run)(call, frame.params);
  } catch (const Refusal& refusal) {
    ++count.refused;
    call.refuse(refusal.fault());
  } catch (const Error& error) {
    // Reading from the disk failed.
    ++count.refused;
    call.refuse(storage_fault(std::make_exception_ptr(error)));
  }
}

std::shared_ptr<Session> Methods::existing(std::string_view key) const {
  auto session = parts_.sessions.find(key);
  if (!session) throw Refusal(Code::invalid_request, fmt::format("session not found: {}", key));
  return session;
}

std::string_view Methods::key_of(const Params& params, std::string_view member) const {
  return *short_text_of(params, member, limits_.key_bytes);
}

std::optional<std::string_view> Methods::short_text_of(const Params& params, std::string_view member,
                                                       std::size_t most) const {
  const auto text = text_of(params, member);
  if (text && text->size() > most)
    throw Refusal(Code::invalid_request,
                  fmt::format("at /{}: must not be longer than {} bytes", member, most));
  return text;
}

void Methods::check_room() const {
  if (parts_.store.pending() < limits_.pending_writes) return;
  throw Refusal(Fault{Code::unavailable, "the disk does not keep up", R"({"reason":"storage"})", Retry::later,
                      std::chrono::milliseconds(500)});
}

void Methods::write(const Call& call, std::vector<Change> changes, std::function<void()> done) {
  check_room();
  parts_.store.write(std::move(changes), [call, done = std::move(done)](const std::exception_ptr& failure) {
    if (failure) {
      call.refuse(storage_fault(failure));
    } else {
      done();
    }
  });
}

void Methods::agent(const Call& call, const Params& params) {
  if (boolean_of(params, "deliver").value_or(false))
    throw Refusal(Code::not_linked, "no channel is linked that a reply could be delivered to");
  check_room();
  RunRequest request;
  request.session_key = key_of(params, "sessionKey");
  request.agent = short_text_of(params, "agentId", limits_.key_bytes).value_or(agent_of(request.session_key));
  request.message = *text_of(params, "message");
  request.key = key_of(params, "idempotencyKey");
  parts_.runner.start(call, std::move(request));
}

void Methods::wait(const Call& call, const Params& params) {
  constexpr std::int64_t longest = 24 * 3'600'000;
  const std::int64_t timeout = std::min(whole_of(params, "timeoutMs").value_or(30'000), longest);
  parts_.runner.wait(call, std::string(key_of(params, "runId")), std::chrono::milliseconds(timeout));
}

void Methods::abort(const Call& call, const Params& params) {
  const auto run = text_of(params, "runId");
  const auto key = text_of(params, "sessionKey");
  if (!run && !key)
    throw Refusal(Code::invalid_request, "at root: must have property 'runId' or 'sessionKey'");
  std::vector<std::string> keys;
  if (run) {
    if (parts_.runner.abort_run(std::string(*run))) keys.emplace_back(*run);
  } else if (const auto session = parts_.sessions.find_or_coming(*key)) {
    keys = parts_.runner.abort_session(*session);
  }
  std::string out;
  ObjectText object(out);
  object.boolean("ok", true).boolean("aborted", !keys.empty());
  append_names(object.value("runIds"), keys, [](const std::string& name) { return std::string_view(name); });
  object.close();
  call.ok(out);
}

void Methods::tasks(const Call& call, const Params&) {
  call.ok(parts_.runner.tasks());
}

void Methods::cron_list(const Call& call, const Params&) {
  call.ok(R"({"jobs":[]})");
}

void Methods::cron_status(const Call& call, const Params&) {
  call.ok(R"({"enabled":false,"storage":"sqlite","jobs":0,"nextWakeAtMs":null})");
}

void Methods::cron_change(const Call&, const Params&) {
  throw Refusal(
      Fault{Code::unavailable, "this gateway runs no cron jobs", R"({"reason":"not-implemented"})"});
}

void Methods::status(const Call& call, const Params&) {
  const ProcessMemory memory = process_memory();
  std::string out;
  ObjectText object(out);
  ObjectText heap(object.value("processMemory"));
  heap.number("rssBytes", memory.rss)
      .number("heapUsedBytes", memory.heap_used)
      .number("heapTotalBytes", memory.heap_total);
  heap.null("externalBytes").null("arrayBuffersBytes").close();
  object.json("eventLoop", parts_.monitor.json());
  object.number("pid", process_id()).number("uptimeMs", uptime());
  const RunnerFacts runs = parts_.runner.facts();
  ObjectText(object.value("sessions"))
      .number("count", static_cast<std::int64_t>(parts_.sessions.size()))
      .close();
  ObjectText(object.value("tasks"))
      .number("running", static_cast<std::int64_t>(runs.running))
      .number("queued", static_cast<std::int64_t>(runs.queued))
      .number("completed", static_cast<std::int64_t>(runs.ok))
      .number("failed", static_cast<std::int64_t>(runs.failed))
      .close();
  object.number("connections", static_cast<std::int64_t>(parts_.hub.size()));
  object.close();
  call.ok(out);
}

void Methods::health(const Call& call, const Params&) {
  std::string out;
  ObjectText(out)
      .boolean("ok", true)
      .number("ts", now())
      .number("uptimeMs", uptime())
      .json("eventLoop", parts_.monitor.json())
      .close();
  call.ok(out);
}

}  // namespace tare::gateway
