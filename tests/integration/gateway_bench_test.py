"""`tare gateway`: a whole run on the built-in gateway, and what the bench does when a gateway, its files or a person get in the way."""

import json
import os
import pathlib
import resource
import signal
import time

import fake_gateway
import gateway_client
import harness

FAST = ("--stream-chunk-delay-ms", 0, "--warm-turns", 1, "--cadence-ms", 5)


class GatewayBench(harness.TareTest):
    def bench(self, *arguments, code=0, **options):
        result = self.tare("gateway", "--output", "out.json", *arguments, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def left_over(self):
        """Servers of the bench have an environment of their own, in which the scratch folder of the test tells them."""
        found, needle = set(super().left_over()), str(self.scratch).encode()
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and needle in (entry / "environ").read_bytes():
                    found.add(int(entry.name))
            except OSError:
                pass
        return sorted(found - {os.getpid()})

    def fake(self, fault=None):
        gateway = fake_gateway.FakeGateway(fault)
        self.addCleanup(gateway.close)
        return gateway

    def fails(self, fault, *arguments, code=1):
        """The last line that the bench says about a gateway with this fault."""
        gateway = self.fake(fault)
        result = self.bench("--url", gateway.url, "--concurrency", 2, *FAST, *arguments, code=code)
        document = self.document("out.json")
        self.assertFalse(document["complete"] and document["invariants"]["ok"])
        return result.stderr

    # What a run leaves.

    def test_everything_at_once(self):
        result = self.bench(*FAST, "--concurrency", 4, "--turns-per-session", 3, "--session-count", 12, "--history-messages", 3,
                            "--history-clients", 2, "--history-burst", 3, "--subscribers", 2, "--session-updates", 20,
                            "--session-update-clients", 2, "--control-plane", "--visible-observer", "--workspace-fanout",
                            "--slo-ms", 5000, "--runs", 2, "--warmup", 1, "--json", "--max-control-ms", 20000,
                            "--max-handshake-ms", 20000)
        document = json.loads(result.stdout)
        self.assertEqual(document, self.document("out.json"))
        self.assertTrue(document["complete"])
        self.assertEqual(document["invariants"], {"ok": True, "failures": []})
        rows = {row["row"]: row for row in document["rows"]}
        self.assertEqual({row["status"] for row in rows.values()}, {"ok"})
        self.assertEqual(len(rows["turns"]["metrics"]["total"]["samples"]), 2 * 4 * 3)
        self.assertEqual(set(rows["turns"]["metrics"]["total"]["process"]), {0, 1})
        self.assertEqual(len(rows["sessions_patch"]["metrics"]["total"]["samples"]), 2 * 20)
        self.assertEqual(len(rows["setup_subscribe"]["metrics"]["total"]["samples"]), 2 * 2)
        for probe in ("readyz", "control_ui", "sessions_list", "chat_history", "messages_subscribe", "tasks_list", "cron_list",
                      "cron_status", "fresh_connection"):
            counters = rows[probe]["counters"]
            self.assertEqual(counters["due"], rows[probe]["metrics"]["total"]["summary"]["count"] + counters["unsent"], probe)
            self.assertGreater(counters["due"], 0, probe)
        for name in ("cpu_total", "cpu_per_turn", "cpu_main_thread", "core_ratio", "rss_before", "rss_peak", "rss_after", "heap_used",
                     "ready", "stop"):
            self.assertEqual(len(rows["server"]["metrics"][name]["samples"]), 2, name)
        checked = {one["id"]: one["checked"] for one in rows["turns"]["invariants"]}
        self.assertEqual(checked["reply_exact"], 2 * 4 * (3 + 1))
        self.assertEqual(checked["stream_exact"], 2 * 4 * (3 + 1))
        self.assertEqual({budget["verdict"] for budget in document["budgets"]}, {"pass"})
        (record,) = document["gateways"]
        self.assertEqual([run["turnCount"] for run in record["runs"]], [12, 12])
        self.assertEqual([run["modelRequestCount"] for run in record["runs"]], [12, 12])
        for run in record["runs"]:
            self.assertTrue(run["gatewayProcess"]["clean"])
            self.assertLess(run["loadWindow"]["startMonotonicMicros"], run["loadWindow"]["endMonotonicMicros"])
            self.assertGreaterEqual(len(run["probeWarmup"]["samples"]), 1)
            self.assertEqual(run["probeWorkload"]["pace"], "open-loop")
            self.assertEqual(run["pluginMetadataScans"]["count"], 0)
            self.assertEqual(run["leaks"]["connections"], 0)
            self.assertEqual((run["leaks"]["fds"], run["leaks"]["processes"]), (0, 0))
            self.assertEqual(run["leaks"]["activeRuns"], 0)
        summary = record["summary"]
        self.assertEqual(summary["turnCount"], 24)
        self.assertEqual(summary["gatewayUncleanExits"], 0)
        self.assertEqual(summary["budgetViolations"], [])
        self.assertEqual(summary["sessionUpdateSampleCount"], 40)
        for name in ("readyzLatencyMs", "sessionsListLatencyMs", "historyLatencyMs", "gatewayProcessCpuMsPerTurn", "gatewayPeakRssMb"):
            self.assertGreater(summary[name]["p50"], 0, name)

    def test_fixed_rounds_are_made_exactly(self):
        for pace, extra in (("open-loop", ()), ("closed-loop", ("--closed-loop",))):
            with self.subTest(pace):
                self.bench(*FAST, "--concurrency", 2, "--session-count", 4, "--history-clients", 2, "--history-burst", 3,
                           "--probe-rounds", 12, *extra)
                document = self.document("out.json")
                for row, count in (("readyz", 12), ("control_ui", 12), ("sessions_list", 12), ("chat_history", 12 * 2 * 3)):
                    self.assertEqual(self.row(document, row, "embedded")["counters"]["due"], count, row)
                workload = document["gateways"][0]["runs"][0]["probeWorkload"]
                self.assertEqual((workload["mode"], workload["pace"]), ("fixed-rounds", pace))
                self.assertEqual((workload["samplerRoundsPerRun"], workload["historyRequestsPerRun"]), (12, 72))

    def test_beyond_the_limit_of_samples_the_histogram_goes_on(self):
        self.bench(*FAST, "--concurrency", 50, "--turns-per-session", 50, "--probe-rounds", 3)
        metric = self.row(self.document("out.json"), "turns", "embedded")["metrics"]["total"]
        self.assertEqual(len(metric["samples"]), 2048)
        self.assertEqual(metric["histogram"]["count"], 2500)
        self.assertEqual(metric["summary"]["count"], 2500)

    def test_cold_and_without_a_timeline(self):
        self.bench("--stream-chunk-delay-ms", 0, "--cold", "--no-diagnostics-timeline", "--probe-rounds", 2)
        (run,) = self.document("out.json")["gateways"][0]["runs"]
        self.assertEqual(run["modelRequestCount"], 8)
        self.assertIsNone(run["pluginMetadataScans"])
        self.assertIsNone(run["leaks"]["fds"])  # the connections to the model server are new

    def test_a_model_server_of_ones_own_gets_its_key(self):
        provider = self.start("serve", "provider", "--port", 0, "--api-key", "secret", "--log", self.folder / "log")
        self.addCleanup(provider.wait)
        self.addCleanup(provider.kill)
        url = json.loads(provider.stdout.readline())["url"]
        self.bench("--provider-url", url, "--concurrency", 2, *FAST, env={"OPENAI_API_KEY": "secret"})
        document = self.document("out.json")
        self.assertIsNone(document["gateways"][0]["runs"][0]["modelRequestCount"])
        self.assertEqual((self.folder / "log").read_text(encoding="utf-8").count('"outcome":"ok"'), 4)
        self.assertNotIn("secret", json.dumps(document))
        self.bench("--provider-url", url, "--concurrency", 2, *FAST, env={"OPENAI_API_KEY": "wrong"}, code=1)
        provider.stdout.close()
        provider.stderr.close()

    def test_a_budget_that_fails_is_exit_code_3(self):
        result = self.bench("--url", self.fake("slow-list").url, "--concurrency", 1, *FAST, "--max-control-ms", 50, code=3)
        # On a busy machine it need not be the only one.
        self.assertRegex(result.stderr, r"tare: budget \w+\.url: Gateway .* probe exceeded 50ms")
        document = self.document("out.json")
        self.assertTrue(document["complete"])
        self.assertIn("Gateway sessions.list probe exceeded 50ms: ok=true",
                      "\n".join(document["gateways"][0]["summary"]["budgetViolations"]))

    # Gateways that misbehave.

    def test_a_good_foreign_gateway(self):
        result = self.bench("--url", self.fake().url, "--concurrency", 2, *FAST)
        document = self.document("out.json")
        self.assertEqual(document["targets"][0]["version"], "9.9")
        self.assertIsNone(document["gateways"][0]["runs"][0]["gatewayProcess"])
        self.assertIsNone(document["gateways"][0]["runs"][0]["modelRequestCount"])
        self.assertNotIn("reply_exact", result.stderr)

    def test_wrong_gateways_fail_the_run(self):
        for fault, said in (
                ("foreign", "own_events: expected events of its own runs"),
                ("twice", "one_answer_each: expected no response that nobody asked for"),
                ("no-page", "right_answer: expected what was asked for, got response body did not contain <html"),
                ("no-second", "settled: expected a second response, got none"),
                ("protocol", "the gateway speaks protocol 3"),
                ("token", "--token"),
        ):
            with self.subTest(fault):
                self.assertIn(said, self.fails(fault))

    def test_a_token_lets_in(self):
        url = self.fake("token").url
        self.bench("--url", url, "--token", "secret", "--concurrency", 1, *FAST)
        self.assertNotIn("secret", json.dumps(self.document("out.json")["config"]))
        self.bench("--url", url, "--concurrency", 1, *FAST, env={"TARE_GATEWAY_TOKEN": "secret"})

    def test_a_turn_that_is_lost_ends_with_the_time_limit(self):
        self.assertRegex(self.fails("lost-turn", "--timeout-ms", 500), r"timed out while warming turns|turn of session")

    def test_an_answer_that_never_comes_is_censored(self):
        self.bench("--url", self.fake("no-list").url, "--concurrency", 1, *FAST, "--timeout-ms", 3000)
        row = self.row(self.document("out.json"), "sessions_list", "url")
        self.assertGreater(row["counters"]["censored"], 0)
        self.assertEqual(row["metrics"]["total"]["summary"]["count"], 0)
        self.assertEqual(set(row["metrics"]["total"]["outcome"]), {"censored"})

    def test_gaps_in_the_sequence_are_counted(self):
        self.bench("--url", self.fake("gap").url, "--concurrency", 2, *FAST)
        self.assertEqual(self.document("out.json")["gateways"][0]["runs"][0]["sequenceGaps"], 4)

    def test_absurd_figures_of_a_gateway_are_no_figures(self):
        self.bench("--url", self.fake("absurd").url, "--concurrency", 1, *FAST)
        document = self.document("out.json")
        self.assertLess(len(document["targets"][0]["version"]), 120)
        self.assertNotIn("\x1b", document["targets"][0]["version"])
        (run,) = document["gateways"][0]["runs"]
        self.assertIsNone(run["leaks"]["connections"])
        self.assertIsNone(run["leaks"]["activeRuns"])
        self.assertIsNone(run["memory"]["after"]["rssMb"])
        self.assertIsNone(run["memory"]["after"]["heapUsedMb"])

    def test_a_signal_ends_probes_that_are_not_answered(self):
        gateway = self.fake("mute-page")
        process = self.start("gateway", "--output", "out.json", "--url", gateway.url)
        while not gateway.asked.get("/"):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("while warming probes", err)

    def test_nobody_there(self):
        gateway = self.fake()
        url = gateway.url
        gateway.close()
        result = self.bench("--url", url, code=1)
        self.assertIn("there is no gateway at", result.stderr)

    def test_an_entry_that_is_no_gateway(self):
        for program, said in (("setTimeout(() => {}, 1e6)", "ready"), ("process.exit(7)", "exit code 7"),
                              ("console.error('boom'); process.exit(1)", "boom")):
            with self.subTest(program):
                (self.folder / "package.json").write_text('{"name":"openclaw","version":"1.2.3"}', encoding="utf-8")
                (self.folder / "entry.js").write_text(program, encoding="utf-8")
                result = self.bench("--entry", "entry.js", "--timeout-ms", 1500, code=1)
                self.assertIn(said, result.stderr)
                self.assertFalse(self.document("out.json")["complete"])

    # What the load is.

    def keys(self, gateway, method, name="sessionKey"):
        """The numbers of the sessions that it was asked for, in order."""
        return [int(params[name].rsplit("-", 1)[1]) for asked, params in gateway.calls if asked == method]

    def test_the_newest_sessions_have_the_turns_and_all_have_histories_and_patches(self):
        gateway = self.fake()
        self.bench("--url", gateway.url, "--concurrency", 2, "--session-count", 6, "--turns-per-session", 2, "--history-messages", 2,
                   "--history-clients", 2, "--history-burst", 3, "--probe-rounds", 4, "--subscribers", 3, "--session-updates", 12,
                   "--session-update-clients", 2, "--visible-observer", *FAST)
        self.assertEqual(sorted(self.keys(gateway, "sessions.create", "key")), [1, 2, 3, 4, 5, 6])
        self.assertEqual(sorted(self.keys(gateway, "chat.inject")), sorted([1, 2, 3, 4, 5, 6] * 2))
        self.assertEqual(sorted(self.keys(gateway, "agent")), [5, 5, 5, 6, 6, 6])  # a warm turn and two more
        self.assertEqual(self.keys(gateway, "sessions.messages.subscribe", "key"), [5, 6, 5] + [5, 6, 5, 6])  # set-up, rounds
        self.assertEqual(sorted(self.keys(gateway, "chat.history")), sorted([1, 2, 3, 4, 5, 6] * 4))
        self.assertEqual(sorted(self.keys(gateway, "sessions.patch", "key")), sorted([1, 2, 3, 4, 5, 6] * 2))
        self.assertEqual(gateway.asked["sessions.observer.visibility"], 1 + 3)
        order = [method for method, _ in gateway.calls]
        self.assertLess(order.index("sessions.list"), order.index("sessions.create"))  # the gate comes before the sessions
        last_made = max(i for i, method in enumerate(order) if method == "chat.inject")
        self.assertLess(last_made, order.index("sessions.messages.subscribe"))
        self.assertLess(order.index("sessions.messages.subscribe"), order.index("agent"))

    def test_the_gate_before_the_load_waits_for_a_page_a_second_and_a_settled_event_loop(self):
        self.bench("--url", self.fake("settling").url, "--concurrency", 1, *FAST)
        (run,) = self.document("out.json")["gateways"][0]["runs"]
        samples = run["probeWarmup"]["samples"]
        self.assertGreaterEqual(len(samples), 4)
        self.assertEqual((samples[0]["controlUi"]["ok"], samples[0]["controlUi"]["error"]), (False, "response body did not contain <html"))
        self.assertTrue(samples[1]["sessionsList"]["ok"])
        self.assertGreater(samples[1]["sessionsList"]["latencyMs"], 1000)
        self.assertTrue(samples[2]["degraded"])
        last = samples[-1]
        self.assertEqual([last[name]["ok"] for name in ("readyz", "controlUi", "sessionsList")], [True] * 3)
        self.assertFalse(last["degraded"])

    def test_the_time_limit_starts_anew_for_the_load_and_for_each_run(self):
        gateway = self.fake("slow sessions.create")  # two seconds of the set-up's limit
        self.bench("--url", gateway.url, "--concurrency", 1, "--session-count", 1, "--timeout-ms", 60000, "--runs", 2, *FAST)
        left = [params["timeoutMs"] for method, params in gateway.calls if method == "agent.wait"]
        self.assertEqual([ms > 53000 for ms in left], [False, True, False, True])  # a warm turn and one of the load, twice

    def test_what_may_not_fail(self):
        for fault, flags, said in (
                ("no sessions.messages.subscribe", ("--subscribers", 1), "sessions.messages.subscribe failed: not now"),
                ("no sessions.messages.unsubscribe", ("--subscribers", 1), "a load probe failed: sessions.messages.unsubscribe failed"),
                ("no sessions.patch", ("--session-updates", 2), "a load probe failed: sessions.patch failed: not now"),
                ("no sessions.create", ("--session-count", 2), "sessions.create failed: not now"),
                ("no chat.inject", ("--history-messages", 1), "chat.inject failed: not now"),
                ("no chat.history", ("--history-clients", 1),
                 "all configured chat.history load probes failed (chat.history failed: not now)"),
        ):
            with self.subTest(fault):
                self.assertIn(said, self.fails(fault, *flags))

    def test_what_may_fail_is_counted(self):
        self.bench("--url", self.fake("half chat.history").url, "--concurrency", 2, "--history-clients", 1, "--history-burst", 4,
                   "--probe-rounds", 3, *FAST)
        document = self.document("out.json")
        self.assertEqual(self.row(document, "chat_history", "url")["outcomes"], {"ok": 6, "failed": 6})
        self.assertEqual(document["gateways"][0]["summary"]["historyFailedSamples"], 6)
        self.assertEqual(document["gateways"][0]["summary"]["historyLatencyMs"]["count"], 6)

    # How a gateway that was started ends.

    def started(self, *flags, code, at_end="process.exit(0)", timeline="line", fault=""):
        """A run on a gateway that is an entry file, which keeps a timeline and does this when it is told to end."""
        fake = pathlib.Path(fake_gateway.__file__).resolve()
        span = '{"schemaVersion":"openclaw.diagnostics.v1","type":"span.end","timestamp":"%s","name":"plugins.metadata.scan","durationMs":2.5}\\n'
        (self.folder / "package.json").write_text('{"name":"openclaw","version":"1.2.3"}', encoding="utf-8")
        (self.folder / "entry.js").write_text(f"""
            const {{ spawn }} = require('node:child_process');
            const fs = require('node:fs');
            const port = process.argv[process.argv.indexOf('--port') + 1];
            const fake = spawn('/usr/bin/python3', ['-B', '{fake}', port, '{fault}'], {{ stdio: 'inherit' }});
            const timeline = process.env.OPENCLAW_DIAGNOSTICS_TIMELINE_PATH;
            const line = () => '{span}'.replace('%s', new Date().toISOString());
            if (timeline) {{ fs.writeFileSync(timeline, ''); setInterval(() => fs.appendFileSync(timeline, {timeline}()), 5); }}
            process.on('SIGTERM', () => {{
                fake.on('exit', () => {{ {at_end} }});
                fake.kill('SIGKILL');
            }});
            """, encoding="utf-8")
        result = self.bench("--entry", "entry.js", "--provider-url", "http://127.0.0.1:9/v1", "--concurrency", 1, *FAST, *flags, code=code)
        self.assertEqual(self.left_over(), [])
        return result.stderr, self.document("out.json")

    def test_a_gateway_that_ends_in_order(self):
        _, document = self.started(code=0)
        (run,) = document["gateways"][0]["runs"]
        self.assertEqual((run["gatewayProcess"]["exitCode"], run["gatewayProcess"]["clean"]), (0, True))
        self.assertGreater(run["pluginMetadataScans"]["count"], 0)
        self.assertEqual(run["pluginMetadataScans"]["totalDurationMs"], 2.5 * run["pluginMetadataScans"]["count"])
        self.assertIsNone(run["modelRequestCount"])  # nobody counts those of a foreign model server
        self.assertEqual(document["gateways"][0]["summary"]["gatewayUncleanExits"], 0)

    def test_the_peak_of_memory_is_seen_while_it_lasts(self):
        _, document = self.started(code=0, fault="ballast")  # 64 MiB, for longer than two looks
        memory = document["gateways"][0]["runs"][0]["memory"]
        self.assertGreater(memory["peakRssMb"], memory["after"]["rssMb"] + 48)
        self.assertLess(memory["after"]["rssMb"], memory["before"]["rssMb"] + 32)

    def test_an_unclean_end_fails_the_run(self):
        err, document = self.started(code=1, at_end="process.exit(3)")
        self.assertIn("clean_exit: expected exit code 0 after SIGTERM, got exit code 3", err)
        self.assertEqual(document["gateways"][0]["summary"]["gatewayUncleanExits"], 1)
        self.assertEqual(self.row(document, "turns", "openclaw")["status"], "ok")  # its figures stay

    def test_a_timeline_that_is_not_whole_fails_the_run(self):
        trouble = "console.error('[diagnostics] failed to write timeline event'); process.exit(0)"
        err, _ = self.started(code=1, at_end=trouble)
        self.assertIn("Gateway reported a diagnostics timeline write failure", err)
        self.started("--no-diagnostics-timeline", code=0, at_end=trouble)
        err, _ = self.started(code=1, timeline="(() => '')")
        self.assertIn("timeline.jsonl is damaged (it is empty)", err)
        err, _ = self.started(code=1, timeline="(() => '{}')")
        self.assertIn("its last line is not whole", err)

    # What gets in the way.

    def child(self, name):
        """The pid of a server of the bench; waits until there is one."""
        needle = ["serve", name]
        end = time.monotonic() + 30
        while time.monotonic() < end:
            for pid in self.left_over():
                try:
                    words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
                except OSError:
                    continue
                if words[1:3] == needle:
                    return pid
            time.sleep(0.01)
        raise AssertionError(f"no {name}")

    @staticmethod
    def port_of(pid):
        """The port on which a process listens, or None."""
        sockets = set()
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            try:
                sockets.add(os.readlink(entry))
            except OSError:
                pass
        for line in pathlib.Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                return int(words[1].split(":")[1], 16)
        return None

    def under_load(self, pid):
        """Waits until turns of the load run, by what the gateway says: they take seconds each."""
        end = time.monotonic() + 60
        while self.port_of(pid) is None:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        client = gateway_client.Gateway(self.port_of(pid))
        self.addCleanup(client.socket.socket.close)
        while not any(task["runId"].startswith("load-") for task in client.call("tasks.list")["tasks"]):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_a_gateway_that_dies_under_load(self):
        for name in ("gateway", "provider"):
            with self.subTest(name):
                process = self.start("gateway", "--output", "out.json", "--warm-turns", 1)
                pid = self.child(name)
                self.under_load(self.child("gateway"))
                os.kill(pid, signal.SIGKILL)
                _, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 1, err)
                self.assertIn("gateway stderr tail:", err)
                self.assertIn("mock provider output tail:", err)
                if name == "gateway":
                    self.assertIn("the gateway ended by itself, under load (killed by SIGKILL)", err)
                document = self.document("out.json")
                self.assertFalse(document["complete"])
                self.assertEqual(self.row(document, "turns", "embedded")["status"], "failed")
                self.assertEqual(self.left_over(), [])
                self.assertEqual(os.listdir(self.scratch), [])

    def test_servers_end_with_a_bench_that_is_killed(self):
        process = self.start("gateway", "--output", "out.json", "--warm-turns", 1)
        self.under_load(self.child("gateway"))
        process.kill()
        process.communicate()
        end = time.monotonic() + 20
        while self.left_over() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(self.left_over(), [])

    def test_a_short_time_limit_is_enough_for_short_turns(self):
        self.bench(*FAST, "--probe-rounds", 2, "--timeout-ms", 5000)

    def test_a_signal_ends_it_in_order(self):
        for when, number, code in (("start", signal.SIGINT, 130), ("load", signal.SIGINT, 130), ("load", signal.SIGTERM, 143)):
            with self.subTest(f"{when} {number}"):
                process = self.start("gateway", "--output", "out.json", "--warm-turns", 1)
                pid = self.child("gateway")
                if when == "load":
                    self.under_load(pid)
                process.send_signal(number)
                _, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, code, err)
                self.assertIn("interrupted", err)
                self.assertFalse(self.document("out.json")["complete"])
                self.assertEqual(self.left_over(), [])
                self.assertEqual(os.listdir(self.scratch), [])

    def test_too_few_descriptors_are_seen_before_the_run(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (600, 600))

        result = self.tare("gateway", "--concurrency", 1000, preexec_fn=limit)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("this load needs 1,", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_help_has_examples(self):
        result = self.tare("gateway", "--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("tare gateway --concurrency 8\n", result.stdout)

    def test_refusals(self):
        for arguments, said in (
                (("--concurrency", "0"), "--concurrency must be 1 to 10000, got 0"),
                (("--target", "nobody"), "no gateway named 'nobody'"),
                (("--entry", "no/such/file.js"), "no/such/file.js"),
                (("--url", "http://127.0.0.1:1"), "http://127.0.0.1:1"),
                (("--runs", "2", "--runs", "3"), "--runs given more than once"),
                (("--runs",), "--runs needs a value"),
                (("--runs", "--json"), "--runs needs a value"),
                (("--sessions", "3"), "unknown flag '--sessions'"),
                (("--tool-events",), "--tool-events is not for the target embedded"),
                (("--cadence-ms", "0.05"), "--cadence-ms must be 0.1 to 5000, got 0.05"),
                (("--output", "no/such/"), "cannot write no/such/"),
                # Of a later part.
                (("--browser-session-clicks", "3"), "--browser-session-clicks"),
                (("--heap-prof-dir", "out"), "--heap-prof-dir"),
        ):
            with self.subTest(arguments):
                self.assertIn(said, self.refused("gateway", *arguments))
        self.assertIn("takes its flags behind `call`", self.refused("gateway", "--runs", "2", "call", "health"))


if __name__ == "__main__":
    harness.main()
