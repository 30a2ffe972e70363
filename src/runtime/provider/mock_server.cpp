#include "runtime/provider/mock_server.hpp"

#include <utility>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "net/http_server.hpp"
#include "runtime/provider/embeddings.hpp"
#include "runtime/provider/mock_reply.hpp"
#include "runtime/provider/mock_request.hpp"
#include "runtime/provider/request_log.hpp"
#include "runtime/provider/waits.hpp"

namespace tare::provider {
namespace {

namespace asio = boost::asio;
using asio::awaitable;

constexpr std::size_t longest_request = 64 * 1024 * 1024;

net::Response json_answer(int status, std::string body) {
  return {status, {{"Content-Type", "application/json"}}, std::move(body)};
}

net::Response refusal(int status, std::string_view message) {
  return json_answer(status, error_body(message, "invalid_request_error"));
}

std::string said_by(const Error& error) {
  return error.why().empty() ? error.what() : fmt::format("{} ({})", error.what(), error.why());
}

/// Nothing listens beyond this machine without a key.
void check_bind(const MockOptions& options) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(options.bind, error);
  if (error) throw Error(ErrorCode::usage, fmt::format("--bind takes an IP address, got '{}'", options.bind));
  if (!address.is_loopback() && options.api_key.empty()) {
    throw Error(ErrorCode::usage, fmt::format("--bind {} is reachable from other machines", options.bind), "",
                "give --api-key as well");
  }
}

/// The fault that a model's name asks for: "any-name-fault:cut,after=2".
std::optional<Fault> fault_of_model(std::string_view model) {
  constexpr std::string_view word = "fault:";
  const std::size_t at = model.find(word);
  if (at == std::string_view::npos) return {};
  return parse_fault(model.substr(at + word.size()), "the model's");
}

}  // namespace

class MockServer::Impl : public std::enable_shared_from_this<MockServer::Impl> {
 public:
  Impl(const MockOptions& options, const Clock& clock, std::function<void(const Error&)> on_failure)
      : options_(options), clock_(clock), on_failure_(std::move(on_failure)) {
    check_bind(options_);
    if (options_.log) log_.emplace(*options_.log);
  }

  void listen(asio::io_context& io) {
    server_.emplace(
        io, options_.bind, options_.port, net::ServerLimits{.body_bytes = longest_request},
        [weak = weak_from_this()](net::Exchange& exchange) { return handle(weak.lock(), exchange); });
  }

  /// Handlers end in their own time; their frames hold this object until then.
  void stop() {
    waits_.stop();
    server_->stop();
    server_->close();
  }

  std::uint16_t port() const { return server_->port(); }
  std::uint64_t requests() const { return requests_; }

 private:
  static awaitable<void> handle(std::shared_ptr<Impl> self, net::Exchange& exchange) {
    if (!self) co_return;
    const std::string path = exchange.request().target.substr(0, exchange.request().target.find('?'));
    if (path == "/healthz" || path == "/health")
      co_return co_await exchange.respond(json_answer(200, R"({"ok":true,"status":"live"})"));
    LoggedRequest entry{.seq = ++self->requests_,
                        .method = exchange.request().method,
                        .path = path,
                        .request_bytes = exchange.request().body.size(),
                        .arrived_ns = self->clock_.now().time_since_epoch().count()};
    bool recorded = false;
    const Record record = [&](Outcome outcome) {
      if (std::exchange(recorded, true)) return;
      entry.outcome = outcome;
      self->write(entry);
    };
    try {
      co_await self->route(exchange, entry, record);
    } catch (const Stopped&) {
      record(Outcome::stopped);
      exchange.cut();
    } catch (const std::exception&) {  // of the connection: what else throws is answered in `route`
      record(Outcome::gone);
      exchange.cut();
    }
  }

  awaitable<void> route(net::Exchange& exchange, LoggedRequest& entry, const Record& record) {
    const bool posts = entry.method == "POST";
    if (!is_allowed(exchange.request())) {
      co_await refuse(exchange, entry, record, 401, "the API key is missing or wrong");
    } else if (posts && entry.path == "/v1/responses") {
      co_await reply(exchange, Dialect::responses, entry, record);
    } else if (posts && entry.path == "/v1/chat/completions") {
      co_await reply(exchange, Dialect::chat, entry, record);
    } else if (posts && entry.path == "/v1/embeddings") {
      co_await embeddings(exchange, entry, record);
    } else if (entry.method == "GET" && entry.path == "/v1/models") {
      entry.status = 200;
      record(Outcome::ok);
      co_await exchange.respond(json_answer(
          200,
          R"({"object":"list","data":[{"id":"tare-mock","object":"model","created":0,"owned_by":"tare"}]})"));
    } else {
      co_await refuse(exchange, entry, record, 404,
                      fmt::format("there is no {} {}", entry.method, entry.path));
    }
  }

  awaitable<void> reply(net::Exchange& exchange, Dialect dialect, LoggedRequest& entry,
                        const Record& record) {
    MockRequest request;
    Directives directives;
    std::optional<Fault> fault;
    std::string problem;
    try {
      request = read_mock_request(dialect, exchange.request().body);
      directives = parse_directives(request.user_text);
      fault = fault_of(request, directives);
    } catch (const Error& error) {
      problem = said_by(error);
    }
    if (!problem.empty()) co_return co_await refuse(exchange, entry, record, 400, problem);
    const ReplyPlan plan = plan_reply(request, directives, options_.defaults, entry.seq, clock_.wall());
    entry.model = request.model;
    entry.stream = request.delivery == Delivery::stream;
    entry.tools = request.tools.size();
    entry.after_tools = request.after_tools;
    entry.max_output_tokens = request.max_output_tokens;
    entry.marker = directives.marker;
    entry.calls = plan.calls.size();
    if (fault) entry.fault = name_of(*fault);
    const MockWorld world{clock_, waits_, options_.stamps};
    MockReply answer(exchange, world, dialect, plan, fault, entry, record);
    if (request.delivery == Delivery::stream) {
      co_await answer.stream();
    } else {
      co_await answer.whole();
    }
  }

  awaitable<void> embeddings(net::Exchange& exchange, LoggedRequest& entry, const Record& record) {
    std::string body;
    std::string problem;
    try {
      body = embeddings_reply(exchange.request().body);
    } catch (const Error& error) {
      problem = said_by(error);
    }
    if (!problem.empty()) co_return co_await refuse(exchange, entry, record, 400, problem);
    entry.status = 200;
    record(Outcome::ok);
    co_await exchange.respond(json_answer(200, std::move(body)));
  }

  static awaitable<void> refuse(net::Exchange& exchange, LoggedRequest& entry, const Record& record,
                                int status, std::string message) {
    entry.status = status;
    record(Outcome::refused);
    co_await exchange.respond(refusal(status, message));
  }

  bool is_allowed(const net::Request& request) const {
    if (options_.api_key.empty()) return true;
    return net::find(request.headers, "authorization") == "Bearer " + options_.api_key;
  }

  std::optional<Fault> fault_of(const MockRequest& request, const Directives& directives) {
    std::string key = request.user_text;
    std::optional<Fault> fault = directives.fault;
    if (!fault) fault = fault_of_model(request.model);
    if (!fault) {
      fault = options_.fault;
      key.clear();  // the server's own fault counts all requests together
    }
    if (fault && !faults_.strikes(*fault, key)) fault.reset();
    return fault;
  }

  void write(const LoggedRequest& entry) {
    if (!log_) return;
    try {
      log_->append(entry);
    } catch (const Error& error) {
      log_.reset();
      if (on_failure_) on_failure_(error);
    }
  }

  MockOptions options_;
  const Clock& clock_;
  std::function<void(const Error&)> on_failure_;
  std::optional<RequestLog> log_;
  FaultCounter faults_;
  Waits waits_;
  std::uint64_t requests_ = 0;
  std::optional<net::HttpServer> server_;
};

MockServer::MockServer(asio::io_context& io, const MockOptions& options, const Clock& clock,
                       std::function<void(const Error&)> on_failure)
    : impl_(std::make_shared<Impl>(options, clock, std::move(on_failure))) {
  impl_->listen(io);
}

MockServer::~MockServer() {
  impl_->stop();
}

std::uint16_t MockServer::port() const {
  return impl_->port();
}

std::uint64_t MockServer::requests() const {
  return impl_->requests();
}

void MockServer::stop() {
  impl_->stop();
}

}  // namespace tare::provider
