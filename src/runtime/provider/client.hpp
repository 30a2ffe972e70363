#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "net/http_client.hpp"
#include "runtime/provider/provider.hpp"
#include "runtime/provider/request.hpp"
#include "runtime/provider/retry.hpp"
#include "runtime/provider/turns.hpp"

namespace tare::provider {

struct ClientOptions {
  std::string url = "http://127.0.0.1:11434/v1";  ///< with the version, as all such servers give it
  std::string api_key = {};                       ///< sent as a bearer token unless empty
  Dialect dialect = Dialect::responses;
  std::size_t connections = 64;  ///< replies at once; one more waits for its turn
  RetryPolicy retry = {};
  std::chrono::milliseconds connect_time{10'000};
  std::chrono::milliseconds first_byte{120'000};  ///< from its turn to the headers of the answer
  std::chrono::milliseconds silence{60'000};      ///< between two reads of a reply
  std::chrono::milliseconds whole{600'000};    ///< of a request from its turn on, attempts and waits included
  std::size_t reply_bytes = 32 * 1024 * 1024;  ///< of one streamed reply, as it is on the wire
};

/// A number in [0, 1), for the spread of retries.
using Random = std::function<double()>;

/// A model server that speaks one of the two OpenAI dialects, over HTTP or TLS. An attempt that failed before
/// the first byte of its reply is made again as `options.retry` says; nothing is asked again behind it.
class Client final : public Provider {
 public:
  /// Throws Error(input) when the URL is none. The clock must outlive the client.
  Client(boost::asio::io_context& io, ClientOptions options, const Clock& clock, Random random);

  boost::asio::awaitable<std::unique_ptr<ReplyStream>> open(const ModelRequest& request) override;

  /// Connections that are open now, idle ones included.
  std::size_t connections() const { return http_.connections(); }

 private:
  class Reply;
  boost::asio::awaitable<std::unique_ptr<Reply>> attempt(std::unique_ptr<Turns::Turn> turn,
                                                         const std::string& body, Instant deadline);
  boost::asio::awaitable<void> refuse(net::BodyStream& answer, Instant deadline);
  net::Request http_request(const std::string& body) const;

  ClientOptions options_;
  net::Url url_;
  std::string server_;  ///< for messages: "http://127.0.0.1:11434"
  const Clock& clock_;
  Random random_;
  net::HttpClient http_;
  Turns turns_;  ///< here and not only in the pool: no time limit runs before a request has its turn
};

}  // namespace tare::provider
