#include "runtime/gateway/connection.hpp"

#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/loop.hpp"
#include "runtime/gateway/device.hpp"
#include "runtime/gateway/json_text.hpp"

namespace tare::gateway {
namespace {

namespace asio = boost::asio;

/// Thrown to end a connection with this code.
struct Goodbye {
  net::CloseCode code;
  std::string reason;
};

}  // namespace

Connection::Connection(ConnectionContext& context, net::WebSocket socket, std::string peer)
    : context_(context), socket_(std::move(socket)), peer_(std::move(peer)), id_(random_uuid()) {}

void Connection::send(std::shared_ptr<const std::string> shared, std::string own) {
  if (socket_.send({std::move(shared), std::move(own)}) || !socket_.too_slow() ||
      std::exchange(is_dropped_, true))
    return;
  ++context_.facts.dropped_slow;
  context_.log.write(LogLevel::warn, "dropped a client that does not read",
                     {{"connection", id_}, {"peer", peer_}});
}

asio::awaitable<void> Connection::close(net::CloseCode code, std::string reason) {
  const auto keep = shared_from_this();
  co_await socket_.close(code, std::move(reason));
}

asio::awaitable<void> Connection::run() {
  const auto keep = shared_from_this();
  ++context_.facts.opened;
  std::optional<Goodbye> goodbye;
  try {
    const bool is_known = co_await greet();
    if (is_known) co_await serve();
  } catch (const Goodbye& said) {
    goodbye = said;
  } catch (const net::Closed&) {
  }
  if (client_) {
    context_.hub.remove(*client_);
    context_.methods.leave(*client_);
  }
  client_.reset();
  if (goodbye) co_await socket_.close(goodbye->code, goodbye->reason);
}

/// Challenge, first request, answer. False when it was refused.
asio::awaitable<bool> Connection::greet() {
  const std::string nonce = random_uuid();
  std::string greeting = *event_text("connect.challenge", challenge(nonce, context_.clock.wall()));
  socket_.send({nullptr, std::move(greeting += '}')});
  net::Deadline deadline(net::Loop::of(context_.io), [this] {
    asio::co_spawn(context_.io, close(net::CloseCode::policy, "handshake timeout"), asio::detached);
  });
  deadline.after(context_.handshake_time);
  const net::Message message = co_await socket_.read();
  deadline.clear();
  RequestFrame frame;
  std::optional<HandshakeRefused> refused;
  try {
    if (message.kind == net::MessageKind::binary)
      throw Goodbye{net::CloseCode::unsupported, "text frames only"};
    frame.id = id_of(message.data);
    frame = parse_request(message.data);
    const Hello hello = shake_hands(frame, {context_.phase, context_.token, nonce, context_.clock.wall()});
    client_ = std::make_shared<Client>(id_, hello, *this);
  } catch (const NotJson&) {
    throw Goodbye{net::CloseCode::normal, "not JSON"};
  } catch (const HandshakeRefused& refusal) {
    refused = refusal;
  } catch (const Refusal& refusal) {
    refused.emplace(net::CloseCode::policy, refusal.fault());
  }
  if (refused) {
    ++context_.facts.refused;
    context_.log.write(LogLevel::warn, "refused a client", {{"peer", peer_}, {"why", refused->what()}});
    socket_.send({nullptr, response_text(frame.id, refused->fault())});
    throw Goodbye{refused->close_code(), refused->what()};
  }
  ++context_.facts.handshakes;
  socket_.limit_messages(context_.max_payload);
  std::string snapshot;
  ObjectText(snapshot).number("uptimeMs", context_.methods.uptime()).close();
  client_->respond(response_text(frame.id, hello_ok(context_.server, id_, client_->hello(), snapshot)));
  context_.hub.add(*client_);
  co_return true;
}

asio::awaitable<void> Connection::serve() {
  constexpr int at_once = 64;  // others have their turn, however much one client asks
  for (;;) {
    std::optional<net::Message> message = co_await socket_.read();
    for (int count = 0; message; ++count) {
      take(*message);
      if (count == at_once) {
        co_await asio::post(context_.io, asio::use_awaitable);
        count = 0;
      }
      message = socket_.next();
    }
  }
}

void Connection::take(const net::Message& message) {
  if (message.kind == net::MessageKind::binary)
    throw Goodbye{net::CloseCode::unsupported, "text frames only"};
  try {
    context_.methods.handle(client_, parse_request(message.data));
  } catch (const NotJson&) {
    throw Goodbye{net::CloseCode::normal, "not JSON"};
  } catch (const Refusal& refusal) {
    client_->respond(response_text(id_of(message.data), refusal.fault()));
  }
}

}  // namespace tare::gateway
