#include "gateway_command.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "lab/bench/gateway/run.hpp"
#include "lab/report/progress.hpp"

namespace tare::cli {
namespace {

constexpr std::string_view gateway_file = "out/gateway.json";

using gateway_bench::RawOptions;

void add_gateways(CLI::App& app, RawOptions& raw, std::optional<std::string>& token) {
  add_text(app, "--targets", raw.targets,
           "Gateways, whose runs take turns: embedded, openclaw, url (default embedded)", "LIST");
  app.add_option("--target", raw.extra_targets, "One gateway; may be given again")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_text(app, "--entry", raw.entry,
           "OpenClaw's entry file (default: the one that `tare targets install` brings)", "FILE");
  add_text(app, "--url", raw.url, "A gateway that runs already, ws://HOST:PORT; it is not started or stopped",
           "URL");
  add_text(app, "--token", token, "Its token (default: TARE_GATEWAY_TOKEN of the environment)", "TOKEN");
  add_text(
      app, "--provider-url", raw.provider_url,
      "A model server instead of the mock, with the key in OPENAI_API_KEY; replies are then only not to be "
      "empty",
      "URL");
  app.add_flag("--utility-model", raw.utility_model, "openclaw: let it ask the model for recaps, too");
  add_text(app, "--plugin-count", raw.plugin_count, "openclaw: synthetic plugins, 0 to 100 (default 0)", "N");
}

void add_turns(CLI::App& app, RawOptions& raw) {
  add_text(app, "--concurrency", raw.concurrency,
           "Sessions that stream at once, 1 to 10000, of openclaw to 64 (default 8)", "N");
  add_text(app, "--turns-per-session", raw.turns_per_session, "One after the other, 1 to 100 (default 1)",
           "N");
  add_text(app, "--warm-turns", raw.warm_turns, "Turns of each session before the load (default 3)", "N");
  app.add_flag("--cold", raw.cold, "No warm turns: the load begins on a gateway that never had a turn");
  add_text(app, "--stream-chunk-delay-ms", raw.stream_chunk_delay_ms,
           "Between two of the 8 chunks of a reply, 0 to 30000 (default 1000)", "MS");
  app.add_flag("--tool-events", raw.tool_events, "openclaw: every turn runs a tool before it replies");
  add_text(app, "--subagents", raw.subagents, "openclaw: every turn starts so many subagents, 0 to 20", "N");
  app.add_flag("--workspace-fanout", raw.workspace_fanout, "Each session has a workspace of its own");
  add_text(app, "--slo-ms", raw.slo_ms, "Turns within it are good: goodput counts them", "MS");
}

void add_load(CLI::App& app, RawOptions& raw) {
  add_text(app, "--session-count", raw.session_count, "Sessions before the load, 0 to 10000 (default 0)",
           "N");
  add_text(app, "--history-messages", raw.history_messages,
           "Messages in each of them, 0 to 500 (default 0); 100000 and 256 MiB in all", "N");
  add_text(app, "--history-message-chars", raw.history_message_chars, "Their size, 1 to 65536 (default 1024)",
           "N");
  add_text(app, "--history-clients", raw.history_clients, "Clients that read histories, 0 to 64 (default 0)",
           "N");
  add_text(app, "--history-burst", raw.history_burst, "Requests of each at once, 1 to 32 (default 5)", "N");
  add_text(app, "--session-updates", raw.session_updates, "Labels to patch, 0 to 100000 (default 0)", "N");
  add_text(app, "--session-update-clients", raw.session_update_clients,
           "Clients that patch them, 1 to 64 (default 4)", "N");
  add_text(app, "--subscribers", raw.subscribers,
           "Clients that hear a session's messages, 0 to 64 (default 0)", "N");
  app.add_flag("--visible-observer", raw.visible_observer,
               "The operator and subscribers say that somebody looks at them");
  app.add_flag("--control-plane", raw.control_plane, "Also probe tasks.list, cron.list and cron.status");
}

void add_probes(CLI::App& app, RawOptions& raw) {
  add_text(app, "--cadence-ms", raw.cadence_ms,
           "A probe of each kind is due so often, 0.1 to 5000 (default 100)", "MS");
  app.add_flag("--closed-loop", raw.closed_loop,
               "The next probe waits for the last one's answer: hides stalls, for comparison only");
  add_text(app, "--probe-rounds", raw.probe_rounds,
           "So many rounds of probes, 1 to 2048 (default: as long as turns run)", "N");
  add_text(app, "--max-control-ms", raw.max_control_ms,
           "Budget: no probe may fail or take longer, 1 to 30000", "MS");
  add_text(app, "--max-handshake-ms", raw.max_handshake_ms,
           "Budget: no fresh connection may fail or take longer, 1 to 30000", "MS");
}

void add_runs(CLI::App& app, RawOptions& raw) {
  add_text(app, "--runs", raw.runs, "Runs of each gateway, 1 to 20 (default 1; from 6 on they are paired)",
           "N");
  add_text(app, "--warmup", raw.warmup, "Runs before them that count for nothing, 0 to 10 (default 0)", "N");
  add_text(app, "--timeout-ms", raw.timeout_ms,
           "Limit of start-up, of set-up and of the load, each, 1 to 600000 (default 120000)", "MS");
  app.add_flag("--no-diagnostics-timeline", raw.no_diagnostics_timeline,
               "The gateway writes no diagnostics timeline");
  add_text(app, "--seed", raw.seed, "Seed of the order of gateways and the texts (default 42)", "N");
  app.add_flag("--quick", raw.quick, "100 ms between chunks, and the control plane: a first look");
}

/// A budget that failed, or that nothing was measured for, is exit code 3.
int with_budgets(int code, const report::Document& document, Context& context) {
  if (code != exit_ok) return code;
  const auto bad = [](const report::Budget& budget) {
    return budget.verdict == report::Verdict::fail || budget.verdict == report::Verdict::unmeasured;
  };
  const auto found = std::ranges::find_if(document.budgets, bad);
  if (found == document.budgets.end()) return code;
  context.err.write(fmt::format("tare: budget {}: {}\n", found->id, found->reason.value_or("failed")));
  return exit_budget_failed;
}

}  // namespace

int run_gateway(const RawOptions& raw, const std::optional<std::string>& token, const OutputOptions& output,
                Context& context) {
  gateway_bench::Request request;
  request.command = context.command;
  request.options = gateway_bench::resolve(raw);
  request.token = gateway_token(token);
  request.provider_key = environment("OPENAI_API_KEY");
  const std::filesystem::path path = document_path(output, gateway_file);
  request.save = [&](const report::Document& document) { report::save(document, path); };
  const Interrupt interrupt;
  report::Progress progress(context.err, context.clock);
  request.say = [&](const std::string& text) {
    progress.finish();
    context.err.write(text);
  };
  const bench::Result result = gateway_bench::run(request, {context.clock, interrupt, progress});
  progress.finish();
  const int code = report_run(result, path, output, "`tare gateway` starts anew", context);
  return with_budgets(code, result.document, context);
}

void add_gateway(CLI::App& app, Context& context) {
  struct Flags {
    RawOptions raw;
    OutputOptions output;
    std::optional<std::string> token;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* gateway = app.add_subcommand("gateway", "Does a gateway stay responsive while agents stream?");
  add_gateways(*gateway, flags->raw, flags->token);
  add_turns(*gateway, flags->raw);
  add_load(*gateway, flags->raw);
  add_probes(*gateway, flags->raw);
  add_runs(*gateway, flags->raw);
  add_output_options(*gateway, flags->output, gateway_file);
  gateway->footer(
      "Each run starts a mock model server and a gateway, warms both, and lets sessions stream while probes\n"
      "are due at fixed moments, whatever the last one did. The first run that fails ends it.\n"
      "\n"
      "Examples:\n"
      "  tare gateway --concurrency 8\n"
      "  tare gateway --concurrency 1000 --stream-chunk-delay-ms 100 --max-control-ms 50\n"
      "  tare gateway --targets embedded,openclaw --turns-per-session 3 --stream-chunk-delay-ms 0\n"
      "  tare gateway --session-count 1000 --history-messages 20 --history-clients 4 --subscribers 8\n"
      "  tare gateway --url ws://127.0.0.1:18789 --json > gateway.json\n"
      "  tare gateway call sessions.list '{\"limit\":10}'");
  gateway->require_subcommand(0, 1);
  gateway->callback([flags, &context, gateway] {
    if (!gateway->get_subcommands().empty()) {  // it has left its own action
      const auto given = gateway->get_options([](const CLI::Option* option) { return option->count() > 0; });
      if (!given.empty())
        throw Error(ErrorCode::usage, fmt::format("`tare gateway call` takes its flags behind `call`, got {}",
                                                  given.front()->get_name()));
      return;
    }
    context.action = [flags, &context] {
      return run_gateway(flags->raw, flags->token, flags->output, context);
    };
  });
  add_gateway_call(*gateway, context);
}

}  // namespace tare::cli
