#include "net/http_parser.hpp"

#include <algorithm>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace tare::net {
namespace beast = boost::beast;
namespace http = boost::beast::http;
using beast::error_code;

class HttpParser::Impl {
 public:
  virtual ~Impl() = default;
  virtual std::size_t put_bytes(std::string_view bytes, error_code& error) = 0;
  virtual void end(error_code& error) = 0;
  virtual bool has_header() const = 0;
  virtual bool has_all() const = 0;
  virtual bool keeps_alive() const = 0;
  virtual bool is_11() const = 0;
};

namespace {

template <bool is_request>
class Parser final : public http::basic_parser<is_request>, public HttpParser::Impl {
  using Base = http::basic_parser<is_request>;

 public:
  Parser(HttpParser& out, HttpParser::Limits limits) : out_(out), body_left_(limits.body_bytes) {
    this->header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    this->body_limit(limits.body_bytes);
  }

  std::size_t put_bytes(std::string_view bytes, error_code& error) override {
    return this->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  }
  void end(error_code& error) override { this->put_eof(error); }
  bool has_header() const override { return this->is_header_done(); }
  bool has_all() const override { return this->is_done(); }
  bool keeps_alive() const override { return this->keep_alive(); }
  bool is_11() const override { return version_ >= 11; }

 private:
  void on_request_impl(http::verb, beast::string_view method, beast::string_view target, int version,
                       error_code&) override {
    out_.method = std::string(method);
    out_.target = std::string(target);
    version_ = version;
  }
  void on_response_impl(int code, beast::string_view, int version, error_code&) override {
    out_.status = code;
    version_ = version;
  }
  void on_field_impl(http::field, beast::string_view name, beast::string_view value, error_code&) override {
    out_.headers.push_back({std::string(name), std::string(value)});
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(beast::string_view body, error_code& error) override {
    return append(body, error);
  }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body, error_code& error) override {
    return append(body, error);
  }
  void on_finish_impl(error_code&) override {}

  std::size_t append(beast::string_view body, error_code& error) {
    if (body.size() > body_left_) {
      error = http::error::body_limit;
      return 0;
    }
    body_left_ -= body.size();
    out_.body.append(body.data(), body.size());
    return body.size();
  }

  HttpParser& out_;
  std::size_t body_left_;
  int version_ = 0;
};

[[noreturn]] void refuse(const error_code& error) {
  if (error == http::error::header_limit) throw HttpProblem(431, "the headers are too long");
  if (error == http::error::body_limit) throw HttpProblem(413, "the body is too long");
  if (error == http::error::bad_version) throw HttpProblem(505, "not HTTP/1.0 or HTTP/1.1");
  throw HttpProblem(400, error.message());
}

}  // namespace

HttpParser::HttpParser(Kind kind, Limits limits) {
  if (kind == Kind::request) {
    impl_ = std::make_unique<Parser<true>>(*this, limits);
    return;
  }
  auto parser = std::make_unique<Parser<false>>(*this, limits);
  if (kind == Kind::response_to_head) parser->skip(true);
  impl_ = std::move(parser);
}

HttpParser::~HttpParser() = default;

std::size_t HttpParser::feed(std::string_view bytes) {
  std::size_t used = 0;
  const bool had_header = header_done();
  while (used < bytes.size() && !done() && header_done() == had_header) {
    error_code error;
    const std::size_t n = impl_->put_bytes(bytes.substr(used), error);
    used += n;
    if (error == http::error::need_more) break;
    if (error) refuse(error);
  }
  return used;
}

void HttpParser::feed_end() {
  error_code error;
  if (!header_done()) throw HttpProblem(400, "the connection ended before the message");
  if (!done()) impl_->end(error);
  if (error) throw HttpProblem(400, "the connection ended before the message");
}

bool HttpParser::header_done() const {
  return impl_->has_header();
}
bool HttpParser::done() const {
  return impl_->has_all();
}
bool HttpParser::keep_alive() const {
  return impl_->keeps_alive();
}
bool HttpParser::is_http11() const {
  return impl_->is_11();
}

}  // namespace tare::net
