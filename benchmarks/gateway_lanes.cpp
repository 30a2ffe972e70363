#include "gateway_lanes.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <ctime>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "lab/process/lines.hpp"
#include "lab/process/tree.hpp"
#include "peer.hpp"

namespace tare::benchmarks {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr double server_mb = 1024 * 1024;
constexpr auto server_start_limit = 30s;
constexpr auto server_leave_limit = 15s;
constexpr auto gateway_wait_limit = 60s;
constexpr auto client_dial_limit = 8s;
constexpr auto clients_leave_limit = 2s;
constexpr std::string_view gateway_token = "a token of the benchmarks alone";

process::Child start_server(std::vector<std::string> arguments,
                            std::map<std::string, std::string> environment,
                            const std::filesystem::path& log) {
  const Fd file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file) throw Error(ErrorCode::failed, "cannot write " + log.string());
  process::SpawnOptions options;
  options.argv = std::move(arguments);
  options.env = std::move(environment);
  options.in = options.out = process::Stdio::pipe();
  options.err = process::Stdio::descriptor(file.get());
  return process::spawn(options);
}

std::string log_tail(const std::filesystem::path& log) {
  return text::tail(file::read(log), 3, 400);
}

/// The number behind the last `,"seq":` of an event; 0 when there is none.
std::uint64_t seq_of(std::string_view frame) {
  constexpr std::string_view name = R"(,"seq":)";
  const std::size_t at = frame.rfind(name);
  std::uint64_t seq = 0;
  if (at != std::string_view::npos)
    std::from_chars(frame.data() + at + name.size(), frame.data() + frame.size(), seq);
  return seq;
}

std::string connect_text() {
  return fmt::format(
      R"({{"type":"req","id":"0","method":"connect","params":{{"minProtocol":4,"maxProtocol":4,"client":)"
      R"({{"id":"gateway-client","version":"1.0.0","platform":"linux","mode":"backend"}},"role":"operator",)"
      R"("scopes":["operator.read","operator.write","operator.admin"],"caps":[],"auth":{{"token":"{}"}}}}}})",
      gateway_token);
}

std::string excerpt(std::string_view frame) {
  return text::one_line(frame.substr(0, 300));
}

}  // namespace

HeldSignals::~HeldSignals() {
  const auto signal = interrupt_->signal();
  interrupt_.reset();
  if (signal) std::raise(*signal);
}

std::optional<Nanoseconds> process_cpu(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

Server::Server(std::vector<std::string> arguments, std::map<std::string, std::string> environment,
               std::filesystem::path log, const HeldSignals& signals)
    : name_("tare serve " + arguments.at(2)),
      log_(std::move(log)),
      child_(start_server(std::move(arguments), std::move(environment), log_)) {
  process::LineOptions options;
  options.interrupt = {signals.fd()};
  process::Lines lines(child_, options);
  const process::Lines::Read read = lines.read_line(SystemClock().now() + server_start_limit);
  if (read.status == process::Lines::Status::interrupted)
    throw Error(ErrorCode::failed, name_ + " was not waited for");
  if (read.status != process::Lines::Status::ok)
    throw Error(ErrorCode::failed, name_ + " did not start", log_tail(log_));
  const json::Value ready = json::parse(read.text, name_);
  port_ = static_cast<std::uint16_t>(ready.at("port").as_int64());
}

Nanoseconds Server::cpu() const {
  const auto used = process_cpu(child_.pid());
  if (!used) throw Error(ErrorCode::failed, "cannot read the processor time of " + name_);
  return *used;
}

double Server::rss_mb() const {
  const auto tree = process::read_tree(child_.pid(), process::TreeFields::rss);
  if (!tree || !tree->rss_bytes) throw Error(ErrorCode::failed, "cannot read the memory of " + name_);
  return static_cast<double>(*tree->rss_bytes) / server_mb;
}

double Server::peak_rss_mb() const {
  const auto tree = process::read_tree(child_.pid(), process::TreeFields::peak);
  if (!tree || !tree->peak_rss_bytes) throw Error(ErrorCode::failed, "cannot read the memory of " + name_);
  return static_cast<double>(*tree->peak_rss_bytes) / server_mb;
}

void Server::stop() {
  child_.signal(SIGTERM);
  const auto exit = child_.wait(SystemClock().now() + server_leave_limit);
  if (!exit) throw Broken(name_ + " did not leave after SIGTERM", log_tail(log_));
  if (!exit->ok())
    throw Broken(fmt::format("{} ended with {}", name_, process::describe(*exit)), log_tail(log_));
}

GatewayWorld::GatewayWorld(GatewaySetup setup)
    : folder_("tare-gateway"), setup_(std::move(setup)), signals_(io_, ::dup(held_.fd())) {
  signals_.async_wait(asio::posix::stream_descriptor::wait_read,
                      [this](const boost::system::error_code& error) { interrupted_ = !error; });
  std::vector<std::string> arguments{tare_path(), "serve", "provider", "--log", folder_.path() / "requests"};
  arguments.insert(arguments.end(), setup_.provider.begin(), setup_.provider.end());
  provider_.emplace(std::move(arguments), std::map<std::string, std::string>{},
                    folder_.path() / "provider.log", held_);
}

GatewayWorld::~GatewayWorld() {
  drop_clients();
}

void GatewayWorld::start_gateway(const std::string& state) {
  gateway_.emplace(std::vector<std::string>{tare_path(), "serve", "gateway", "--port", "0", "--state",
                                            folder_.path() / state, "--provider-url",
                                            fmt::format("http://127.0.0.1:{}/v1", provider_->port()),
                                            "--max-concurrent", std::to_string(setup_.max_concurrent)},
                   std::map<std::string, std::string>{{"TARE_GATEWAY_TOKEN", std::string(gateway_token)}},
                   folder_.path() / "gateway.log", held_);
}

void GatewayWorld::stop_gateway() {
  drop_clients();
  gateway_->stop();
  gateway_.reset();
}

asio::awaitable<std::shared_ptr<GatewayClient>> GatewayWorld::dial() {
  auto client = std::make_shared<GatewayClient>(*this);
  co_await client->shake_hands();
  std::erase_if(clients_, [](const auto& known) { return known.expired(); });
  clients_.push_back(client);
  ++readers_;
  asio::co_spawn(io_, client->read_all(), [this, client](const std::exception_ptr& failure) {
    --readers_;
    if (failure) fail(failure);
  });
  co_return client;
}

std::shared_ptr<GatewayClient> GatewayWorld::connect() {
  std::shared_ptr<GatewayClient> client;
  run([](GatewayWorld& world, std::shared_ptr<GatewayClient>& out) -> asio::awaitable<void> {
    out = co_await world.dial();
  }(*this, client));
  return client;
}

void GatewayWorld::run_until(const std::function<bool()>& so) {
  const Instant end = SystemClock().now() + gateway_wait_limit;
  while (!so()) {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (interrupted_) throw Error(ErrorCode::failed, "a signal came");
    if (SystemClock().now() > end)
      throw Broken("the gateway takes too long", log_tail(folder_.path() / "gateway.log"));
    if (io_.stopped()) io_.restart();
    io_.run_one_for(100ms);
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void GatewayWorld::run(asio::awaitable<void> work) {
  auto done = std::make_shared<bool>(false);
  asio::co_spawn(io_, std::move(work), [this, done](const std::exception_ptr& failure) {
    *done = true;
    if (failure) fail(failure);
  });
  run_until([done] { return *done; });
}

void GatewayWorld::run_for(Nanoseconds time) {
  const Instant end = SystemClock().now() + time;
  run_until([end] { return SystemClock().now() >= end; });
}

void GatewayWorld::fail(const std::exception_ptr& failure) {
  if (!failure_) failure_ = failure;
}

void GatewayWorld::fail(const std::string& what, std::string_view why) {
  fail(std::make_exception_ptr(Broken(what, excerpt(why))));
}

void GatewayWorld::finish() {
  stop_gateway();
  provider_->stop();
  const std::string requests = file::read(folder_.path() / "requests");
  const auto count = static_cast<std::uint64_t>(std::count(requests.begin(), requests.end(), '\n'));
  if (count != turns_) throw Broken(fmt::format("{} turns asked the model server {} times", turns_, count));
}

/// Their coroutines end with their connections; what they find then is of no interest.
void GatewayWorld::drop_clients() {
  for (const auto& known : clients_) {
    if (const auto client = known.lock()) client->socket_.reset();
  }
  clients_.clear();
  const Instant end = SystemClock().now() + clients_leave_limit;
  while (readers_ > 0 && SystemClock().now() < end) {
    if (io_.stopped()) io_.restart();
    io_.run_one_for(100ms);
  }
}

void GatewayClient::ask(std::string_view method, std::string_view params, Answered answered,
                        Answers answers) {
  const std::uint64_t id = ++last_id_;
  asked_.emplace(id, Asked{std::move(answered), static_cast<int>(answers)});
  socket_->send(
      {nullptr, fmt::format(R"({{"type":"req","id":"{}","method":"{}","params":{}}})", id, method, params)});
}

asio::awaitable<void> GatewayClient::shake_hands() {
  const net::Url url("ws", "127.0.0.1", world_.gateway().port(), "/");
  socket_.emplace(co_await net::connect_websocket(world_.io(), url, {}, {}, client_dial_limit));
  const net::Message challenge = co_await socket_->read();
  if (challenge.data.find("connect.challenge") == std::string::npos)
    throw Broken("the gateway did not challenge", excerpt(challenge.data));
  socket_->send({nullptr, connect_text()});
  const net::Message hello = co_await socket_->read();
  if (hello.data.find(R"("type":"hello-ok")") == std::string::npos)
    throw Broken("the gateway did not say hello", excerpt(hello.data));
}

asio::awaitable<void> GatewayClient::read_all() {
  try {
    while (socket_) {
      std::optional<net::Message> message = co_await socket_->read();
      while (message) {
        take(message->data);
        message = socket_ ? socket_->next() : std::nullopt;
      }
    }
  } catch (const net::Closed&) {
    if (socket_ && !closing_) throw;
  }
}

asio::awaitable<void> GatewayClient::close() {
  closing_ = true;
  co_await socket_->close(net::CloseCode::normal, "");
  socket_.reset();
}

void GatewayClient::take(std::string_view frame) {
  const Instant at = SystemClock().now();
  if (frame.starts_with(R"({"type":"event")")) {
    take_event(frame, at);
  } else {
    take_response(frame, at);
  }
}

void GatewayClient::take_event(std::string_view frame, Instant at) {
  if (seq_of(frame) != ++seq_) world_.fail("an event is missing", frame);
  if (event_) event_(frame, at);
}

void GatewayClient::take_response(std::string_view frame, Instant at) {
  constexpr std::string_view head = R"({"type":"res","id":")";
  std::uint64_t id = 0;
  if (frame.starts_with(head)) std::from_chars(frame.data() + head.size(), frame.data() + frame.size(), id);
  const auto asked = asked_.find(id);
  if (asked == asked_.end()) return world_.fail("an answer that nobody asked for", frame);
  if (frame.find(R"("ok":true,"payload":)") == std::string_view::npos)
    return world_.fail("the gateway refused", frame);
  if (--asked->second.answers > 0) return asked->second.answered(frame, at);
  const Answered answered = std::move(asked->second.answered);
  asked_.erase(asked);
  answered(frame, at);
}

Measurement worst_of(const std::vector<GatewayPart>& parts, std::string_view unit) {
  const auto reach = [](const GatewayPart& part) {
    const double figure =
        part.measurement.interval ? part.measurement.interval->at(1) : *part.measurement.measured;
    return figure / part.limit;
  };
  const auto worst = std::max_element(parts.begin(), parts.end(),
                                      [&](const auto& a, const auto& b) { return reach(a) < reach(b); });
  Measurement measurement = worst->measurement;
  measurement.limit = Limit{{}, worst->limit};
  measurement.note.clear();
  for (const GatewayPart& part : parts) {
    if (!measurement.note.empty()) measurement.note += "; ";
    measurement.note +=
        fmt::format("{} {} {} (≤ {})", part.name, text::significant(*part.measurement.measured), unit,
                    text::significant(part.limit));
    if (!part.measurement.note.empty()) measurement.note += ", " + part.measurement.note;
  }
  return measurement;
}

}  // namespace tare::benchmarks
