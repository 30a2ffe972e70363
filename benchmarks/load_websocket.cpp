#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "benchmark.hpp"
#include "lab/driver/registry.hpp"
#include "lab/gateway/client.hpp"
#include "load_lanes.hpp"
#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

struct RpcShape {
  std::size_t connections;
  std::size_t in_flight;  ///< of each connection
};
constexpr RpcShape rpc_few{4, 16};   ///< several requests and answers go together
constexpr RpcShape rpc_many{64, 1};  ///< each goes alone
constexpr auto rpc_block = std::chrono::milliseconds(500);
constexpr auto rpc_connect_limit = std::chrono::seconds(10);

struct RpcBlock {
  double us = 0;        ///< of the client's processor time, for each request
  double rate = 0;      ///< answers a second
  double cpu_rate = 0;  ///< answers a second of its processor time
};

/// The lab's client, which asks anew as soon as it was answered.
class RpcLoop {
 public:
  RpcLoop(std::uint16_t port, RpcShape shape) : shape_(shape) {
    boost::asio::co_spawn(io_, connect(port), [this](const std::exception_ptr& failure) {
      failure_ = failure;
      connected_ = true;
    });
    run_loop_until(io_, [&] { return connected_; });
    if (failure_) std::rethrow_exception(failure_);
  }

  RpcBlock block() {
    const SystemClock clock;
    const Nanoseconds cpu_before = thread_cpu();
    const Instant begin = clock.now();
    end_ = begin + rpc_block;
    answers_ = 0;
    for (const auto& client : clients_) {
      for (std::size_t i = 0; i < shape_.in_flight; ++i) ask(*client);
    }
    run_loop_until(io_, [&] { return open_ == 0; });
    const double cpu_us = to_ms(thread_cpu() - cpu_before) * 1e3;
    const double wall_us = to_ms(clock.now() - begin) * 1e3;
    if (wrong_ > 0) throw Broken("a request was not answered as it must be");
    const auto answers = static_cast<double>(answers_);
    return {cpu_us / answers, answers / wall_us * 1e6, answers / cpu_us * 1e6};
  }

 private:
  boost::asio::awaitable<void> connect(std::uint16_t port) {
    for (std::size_t i = 0; i < shape_.connections; ++i) {
      lab_gateway::Address address{net::Url("ws", "127.0.0.1", port, "/"), {}};
      clients_.push_back(co_await lab_gateway::Client::connect(io_, std::move(address), rpc_connect_limit));
    }
  }

  void ask(lab_gateway::Client& client) {
    ++open_;
    client.ask("health", "{}", rpc_connect_limit, [this, &client](const lab_gateway::Answer& answer) {
      --open_;
      ++answers_;
      if (answer.outcome != load::Outcome::ok || answer.payload != "{}") {
        ++wrong_;
      } else if (answer.at < end_) {
        ask(client);
      }
    });
  }

  RpcShape shape_;
  boost::asio::io_context io_{1};
  std::vector<std::shared_ptr<lab_gateway::Client>> clients_;
  std::exception_ptr failure_;
  bool connected_ = false;
  Instant end_;
  std::size_t open_ = 0;
  std::uint64_t answers_ = 0;
  std::uint64_t wrong_ = 0;
};

/// The same with npm's ws, in a process of Node.
class NodeLoop {
 public:
  NodeLoop(std::uint16_t port, RpcShape shape)
      : peer_({driver::node_program({}).string(), helper("ws_loop.mjs").string(), modules().string(),
               std::to_string(port), std::to_string(shape.connections), std::to_string(shape.in_flight)}) {}

  double block_us() {
    const std::vector<std::string> words = text::split(peer_.ask(std::to_string(rpc_block.count())), ' ');
    const auto answers = text::to_double(words.at(0));
    const auto us = words.size() == 2 ? text::to_double(words[1]) : std::nullopt;
    if (!answers || *answers <= 0 || !us) throw Error(ErrorCode::failed, "ws_loop.mjs did not report");
    return *us / *answers;
  }

 private:
  static std::filesystem::path modules() {
    std::filesystem::path folder = file::cache_folder() / "openclaw" / "node_modules";
    if (!std::filesystem::exists(folder / "ws" / "wrapper.mjs"))
      throw Error(ErrorCode::unavailable, "npm's ws is not there", "", "tare targets install openclaw");
    return folder;
  }

  Peer peer_;
};

Measurement measure_rpc_rate() {
  const HelperServer server("rpc_server");
  RpcLoop few(server.port(), rpc_few);
  RpcLoop many(server.port(), rpc_many);
  std::vector<double> cpu_rates[2];
  const auto rate = [&](std::size_t which, RpcLoop& loop) {
    const RpcBlock block = loop.block();
    cpu_rates[which].push_back(block.cpu_rate);
    return block.rate;
  };
  few.block();
  many.block();
  auto rates = interleave({[&] { return rate(0, few); }, [&] { return rate(1, many); }},
                          {.fewest = 12, .most = 30, .limit = std::chrono::seconds(30)});
  const std::size_t blocks = rates[0].size();
  const auto count = [](std::vector<double> figures) {
    return text::count(static_cast<std::uint64_t>(*alone(std::move(figures)).measured));
  };
  Measurement measurement = alone(std::move(rates[0]));
  measurement.note = fmt::format(
      "median of {} blocks of 0.5 s; {} for a second of its processor time; over {} connections with "
      "one in flight each {} and {}",
      blocks, count(std::move(cpu_rates[0])), rpc_many.connections, count(std::move(rates[1])),
      count(std::move(cpu_rates[1])));
  return measurement;
}

std::string shape_text(RpcShape shape) {
  return fmt::format("{} connections with {} in flight each", shape.connections, shape.in_flight);
}

/// The worse of the two shapes is judged.
Measurement measure_rpc_cpu() {
  const HelperServer server("rpc_server");
  NodeLoop node_few(server.port(), rpc_few);
  NodeLoop node_many(server.port(), rpc_many);
  RpcLoop few(server.port(), rpc_few);
  RpcLoop many(server.port(), rpc_many);
  const std::vector<Lane> lanes{[&] { return few.block().us; }, [&] { return node_few.block_us(); },
                                [&] { return many.block().us; }, [&] { return node_many.block_us(); }};
  for (const Lane& lane : lanes) lane();
  const auto figures = interleave(lanes, {.fewest = 8, .most = 20, .limit = std::chrono::seconds(40)});
  Measurement worse = compared(figures[0], figures[1]);
  Measurement better = compared(figures[2], figures[3]);
  RpcShape judged = rpc_few;
  RpcShape other = rpc_many;
  if (better.ratio > worse.ratio) {
    std::swap(worse, better);
    std::swap(judged, other);
  }
  worse.note = fmt::format(
      "{} pairs of blocks of 0.5 s, {}; {}", figures[0].size(), shape_text(judged),
      beside(shape_text(other) + ": " + text::significant(*better.measured) + " µs against", better, "µs"));
  return worse;
}

}  // namespace

Benchmark load_websocket() {
  return {
      {"load.websocket",
       "RPC a second that one thread makes over 4 WebSockets, 64 in flight, to a server that answers at once",
       "/s",
       Judged::rate,
       {60'000.0, {}}},
      measure_rpc_rate};
}

Benchmark load_websocket_cpu() {
  return {
      {"load.websocket_cpu",
       "processor time of the client for an RPC, against a client in Node with npm's ws on the same server",
       "µs",
       Judged::ratio,
       {{}, 0.8}},
      measure_rpc_cpu};
}

}  // namespace tare::benchmarks
