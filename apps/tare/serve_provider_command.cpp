#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "base/flag.hpp"
#include "base/json.hpp"
#include "runtime/provider/mock_serve.hpp"
#include "serve_command.hpp"

namespace tare::cli {
namespace {

struct ProviderFlags {
  std::optional<std::string> port;
  std::optional<std::string> bind;
  std::optional<std::string> chunks;
  std::optional<std::string> chunk_delay;
  std::optional<std::string> text;
  std::optional<std::string> fault;
  std::optional<std::string> stamp;
  std::optional<std::string> api_key;
  std::optional<std::string> log;
};

/// The line that says that the server listens.
struct Listening {
  std::string event = "listening";
  std::string url;
  std::uint16_t port = 0;
  std::int64_t pid = 0;
};
BOOST_DESCRIBE_STRUCT(Listening, (), (event, url, port, pid))

provider::Stamps stamps_of(const std::string& word) {
  if (word == "field") return provider::Stamps::field;
  if (word == "text") return provider::Stamps::text;
  throw Error(ErrorCode::usage, fmt::format("--stamp must be field or text, got '{}'", word));
}

/// An empty one would mean as much as none, which is not what was asked for.
const std::string& filled(std::string_view flag, const std::string& text) {
  if (text.empty()) throw Error(ErrorCode::usage, fmt::format("{} is empty", flag));
  return text;
}

provider::MockOptions options_of(const ProviderFlags& flags) {
  provider::MockOptions options;
  if (flags.port) options.port = static_cast<std::uint16_t>(whole_number("--port", *flags.port, {0, 65'535}));
  if (flags.bind) options.bind = *flags.bind;
  if (flags.chunks) {
    options.defaults.chunks =
        static_cast<unsigned>(whole_number("--chunks", *flags.chunks, {1, provider::max_chunks}));
  }
  if (flags.chunk_delay)
    options.defaults.delay = provider::parse_delay(*flags.chunk_delay, "--chunk-delay-ms");
  if (flags.text) options.defaults.text = filled("--text", *flags.text);
  if (flags.fault) options.fault = provider::parse_fault(*flags.fault, "--fault");
  if (flags.stamp) options.stamps = stamps_of(*flags.stamp);
  if (flags.api_key) options.api_key = filled("--api-key", *flags.api_key);
  if (flags.log) options.log = filled("--log", *flags.log);
  return options;
}

void add_flags(CLI::App& command, ProviderFlags& flags) {
  add_text(command, "--port", flags.port, "Port to listen on (default 0: a free one)", "N");
  add_text(command, "--bind", flags.bind,
           "IP address to listen on (default 127.0.0.1); one beyond loopback needs --api-key", "ADDRESS");
  add_text(command, "--chunks", flags.chunks, "Chunks of a reply's text, 1 to 100000 (default 8)", "N");
  add_text(command, "--chunk-delay-ms", flags.chunk_delay,
           "Time between two chunks, fractions allowed (default 0: a reply goes out in one write)", "MS");
  add_text(command, "--text", flags.text, "First chunk of a reply to a text without a marker", "TEXT");
  add_text(command, "--fault", flags.fault, "What goes wrong with requests that name no fault themselves",
           "FAULT");
  add_text(
      command, "--stamp", flags.stamp,
      "Put the monotonic time at which a chunk was sent into its event (field), or into its text as well "
      "(text)",
      "field|text");
  add_text(command, "--api-key", flags.api_key, "Answer only requests with this bearer token", "KEY");
  add_text(command, "--log", flags.log, "Append a line of JSON for each request", "FILE");
}

}  // namespace

void add_serve_provider(CLI::App& serve, Context& context) {
  auto flags = std::make_shared<ProviderFlags>();
  CLI::App* command = serve.add_subcommand(
      "provider", "A mock model server that speaks both OpenAI dialects, and fails on request");
  add_flags(*command, *flags);
  command->footer(
      "Once it listens it prints one line: "
      "{\"event\":\"listening\",\"url\":\"http://127.0.0.1:PORT/v1\",...}. "
      "SIGTERM or\n"
      "SIGINT stops it, with exit code 0.\n"
      "\n"
      "The user's text can ask for a reply: [[marker:TEXT]] is its first chunk, then \" 2\", \" 3\" ...\n"
      "  [[chunks:N]]  [[delay:MS]]  [[tool:NAME {\"argument\":1}]]  [[subagents:N]]  [[fault:FAULT]]\n"
      "\n"
      "Faults: stall, cut, short, garbage, bad-utf8, error (each with ,after=CHUNKS), slow (,delay=MS), "
      "split, "
      "html, and\n"
      "a status of 400 to 599 (,retry-after=SECONDS). ,times=N: only so often. ,every=N: each so manyth "
      "time.\n"
      "A model named ...fault:FAULT asks for it as well.\n"
      "\n"
      "Examples:\n"
      "  tare serve provider --port 8081 --log requests.jsonl\n"
      "  tare serve provider --chunk-delay-ms 12.5 --chunks 40 --stamp field\n"
      "  tare serve provider --fault 429,retry-after=0.5,every=10\n"
      "  curl http://127.0.0.1:8081/v1/chat/completions -d '{\"model\":\"m\",\"stream\":true,\n"
      "    \"messages\":[{\"role\":\"user\",\"content\":\"[[marker:hello]] [[chunks:3]]\"}]}'");
  command->callback([flags, &context] {
    context.action = [flags] {
      provider::MockOptions options = options_of(*flags);
      const std::string host =
          options.bind.find(':') == std::string::npos ? options.bind : fmt::format("[{}]", options.bind);
      provider::serve_mock(options, [&](std::uint16_t port) {
        write_stdout(
            json::line(Listening{
                .url = fmt::format("http://{}:{}/v1", host, port), .port = port, .pid = ::getpid()}) +
            "\n");
      });
      return exit_ok;
    };
  });
}

}  // namespace tare::cli
