#include <chrono>
#include <memory>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include "base/flag.hpp"
#include "base/json.hpp"
#include "base/version.hpp"
#include "gateway_command.hpp"
#include "net/websocket.hpp"

namespace tare::cli {
namespace {

namespace asio = boost::asio;

struct CallFlags {
  std::optional<std::string> url;
  std::optional<std::string> token;
  std::optional<std::string> timeout;
  std::string method;
  std::string params = "{}";
  enum class Answer : std::uint8_t { first, last };
  Answer answer = Answer::first;
};

class Refused : public Error {
 public:
  Refused(const std::string& what, const std::string& why) : Error(ErrorCode::failed, what, why) {}
};

json::Value connect_params(const std::optional<std::string>& token) {
  json::Object params{
      {"minProtocol", 4},
      {"maxProtocol", 4},
      {"client",
       json::Object{
           {"id", "gateway-client"}, {"version", version()}, {"platform", "linux"}, {"mode", "backend"}}},
      {"role", "operator"},
      {"scopes", json::Array{"operator.read", "operator.write", "operator.admin"}},
      {"caps", json::Array{}}};
  if (token) params["auth"] = json::Object{{"token", *token}};
  return params;
}

/// The payload, if this frame is the response that is waited for. Throws Error(failed) for a refusal.
std::optional<json::Value> payload_in(std::string_view text, std::string_view id, CallFlags::Answer which) {
  json::Value frame = json::parse(text, "a frame");
  json::Object& object = frame.as_object();
  const json::Value* frame_id = object.if_contains("id");
  if (frame_id == nullptr || !frame_id->is_string() || frame_id->get_string() != id) return std::nullopt;
  if (!object.at("ok").as_bool()) {
    const json::Object& error = object.at("error").as_object();
    throw Refused(fmt::format("the gateway refused: {}", std::string_view(error.at("message").as_string())),
                  json::line(json::Value(error)));
  }
  json::Value& payload = object["payload"];
  // `agent` is answered twice: at once that it is accepted, and when it has ended.
  const json::Value* status = payload.is_object() ? payload.get_object().if_contains("status") : nullptr;
  if (which == CallFlags::Answer::last && status != nullptr && *status == "accepted") return std::nullopt;
  return std::move(payload);
}

/// The payload of the response to this request. Throws Error(failed) for a refusal, and for what is no
/// gateway.
asio::awaitable<json::Value> response_to(net::WebSocket& socket, std::string_view id,
                                         CallFlags::Answer which) {
  for (;;) {
    const net::Message message = co_await socket.read();
    std::string why;
    try {
      if (auto payload = payload_in(message.data, id, which)) co_return std::move(*payload);
      continue;
    } catch (const Refused&) {
      throw;
    } catch (const std::exception& error) {
      why = error.what();
    }
    throw Error(ErrorCode::failed, "what answers there is no gateway", fmt::format("a frame of it: {}", why),
                "see --url");
  }
}

asio::awaitable<json::Value> request(net::WebSocket& socket, std::string id, std::string method,
                                     json::Value params, CallFlags::Answer which) {
  const json::Value frame{{"type", "req"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
  socket.send({nullptr, json::line(frame)});
  co_return co_await response_to(socket, id, which);
}

asio::awaitable<net::WebSocket> connect(asio::io_context& io, const net::Url& url,
                                        std::chrono::milliseconds limit) {
  try {
    co_return co_await net::connect_websocket(io, url, {}, {}, limit);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    throw Error(error.code(), error.what(), error.why(), "does `tare serve gateway` run there? see --url");
  }
}

asio::awaitable<json::Value> call(asio::io_context& io, const CallFlags& flags, json::Value params,
                                  std::chrono::milliseconds limit) {
  const net::Url url = net::parse_url(flags.url.value_or("ws://127.0.0.1:18789"), "--url");
  net::WebSocket socket = co_await connect(io, url, limit);
  co_await request(socket, "connect", "connect", connect_params(flags.token), CallFlags::Answer::first);
  json::Value payload = co_await request(socket, "call", flags.method, std::move(params), flags.answer);
  co_await socket.close(net::CloseCode::normal, "");
  co_return payload;
}

int run_call(CallFlags flags) {
  flags.token = gateway_token(flags.token);
  const std::chrono::milliseconds limit(
      flags.timeout ? whole_number("--timeout-ms", *flags.timeout, {1, 86'400'000}) : 30'000);
  json::Value params = json::parse(flags.params, "the parameters");
  asio::io_context io(1);
  std::exception_ptr failure;
  std::optional<json::Value> payload;
  asio::steady_timer timer(io, limit);
  timer.async_wait([&](const boost::system::error_code& error) {
    if (!error) io.stop();
  });
  asio::co_spawn(io, call(io, flags, std::move(params), limit),
                 [&](const std::exception_ptr& error, json::Value value) {
                   failure = error;
                   if (!error) payload = std::move(value);
                   timer.cancel();
                 });
  io.run();
  if (failure) std::rethrow_exception(failure);
  if (!payload) {
    throw Error(ErrorCode::timeout,
                fmt::format("{} was not answered within {} ms", flags.method, limit.count()), "",
                "give more with --timeout-ms");
  }
  write_stdout(json::pretty(*payload));
  return exit_ok;
}

}  // namespace

std::optional<std::string> gateway_token(const std::optional<std::string>& flag) {
  return flag ? flag : environment("TARE_GATEWAY_TOKEN");
}

void add_gateway_call(CLI::App& gateway, Context& context) {
  auto flags = std::make_shared<CallFlags>();
  CLI::App* command =
      gateway.add_subcommand("call", "Call one method of a running gateway and print its answer");
  command->add_option("METHOD", flags->method, "The method, sessions.list for one")->required();
  command->add_option("JSON", flags->params, "Its parameters (default {})");
  add_text(*command, "--url", flags->url, "Where it is (default ws://127.0.0.1:18789)", "URL");
  add_text(*command, "--token", flags->token, "Its token (default: TARE_GATEWAY_TOKEN of the environment)",
           "TOKEN");
  add_text(*command, "--timeout-ms", flags->timeout, "Time for all of it (default 30000)", "MS");
  command->add_flag_callback(
      "--final", [flags] { flags->answer = CallFlags::Answer::last; },
      "Of agent: wait for the end of the run");
  command->footer(
      "Examples:\n"
      "  tare gateway call health\n"
      "  tare gateway call sessions.list '{\"limit\":10}'\n"
      "  tare gateway call agent --final "
      "'{\"sessionKey\":\"agent:main:me\",\"message\":\"hello\",\"idempotencyKey\":\"1\"}'");
  command->callback([flags, &context] { context.action = [flags] { return run_call(*flags); }; });
}

}  // namespace tare::cli
