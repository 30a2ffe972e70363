"""The built-in gateway as a process: handshake, methods, events, and what it does when all goes well."""

import base64
import hashlib
import json
import signal
import socket
import threading

import gateway_client
import harness
from gateway_client import BINARY, Closed, Refused, WebSocket, connect_params, text_of
from gateway_world import GatewayTest


class Handshake(GatewayTest):
    def setUp(self):
        super().setUp()
        self.gateway = self.start_gateway()

    def first(self, frame, opcode=gateway_client.TEXT):
        """What the gateway answers to a first frame, and the code with which it closes."""
        socket = WebSocket(self.gateway.port)
        self.addCleanup(socket.socket.close)
        json.loads(socket.receive())
        answer = None
        try:
            socket.send(frame if isinstance(frame, (str, bytes)) else json.dumps(frame), opcode)
            answer = json.loads(socket.receive())
            self.assertFalse(answer["ok"])
            socket.receive()
        except Closed as closed:
            return answer and answer["error"], closed.code
        self.fail("it was not closed")

    def connect_frame(self, **changes):
        return {"type": "req", "id": "1", "method": "connect", "params": connect_params(**changes)}

    def client(self, **changes):
        return {**connect_params()["client"], **changes}

    def test_a_client_is_challenged_and_greeted(self):
        client = self.gateway.connect()
        self.assertEqual(client.challenge["event"], "connect.challenge")
        self.assertEqual(set(client.challenge["payload"]), {"nonce", "ts", "capabilities"})
        self.assertNotIn("seq", client.challenge)
        hello = client.hello
        self.assertEqual((hello["type"], hello["protocol"]), ("hello-ok", 4))
        self.assertEqual(set(hello["server"]), {"version", "buildId", "bootId", "connId"})
        self.assertEqual(hello["policy"], {"maxPayload": 26214400, "maxBufferedBytes": 52428800, "tickIntervalMs": 30000})
        self.assertEqual(hello["auth"], {"method": "none", "role": "operator", "scopes": ["operator.read", "operator.write", "operator.admin"]})
        self.assertIn("sessions.list", hello["features"]["methods"])
        self.assertIn("agent", hello["features"]["events"])

    def test_another_protocol_is_refused_with_1002(self):
        error, code = self.first(self.connect_frame(minProtocol=3, maxProtocol=3))
        self.assertEqual(error["details"], {"code": "PROTOCOL_MISMATCH", "expectedProtocol": 4})
        self.assertEqual(code, 1002)

    def test_what_is_no_handshake_is_refused_with_1008(self):
        for frame in ({"type": "req", "id": "1", "method": "health", "params": {}},
                      self.connect_frame(client=self.client(id="netscape")),
                      self.connect_frame(bogus=1),
                      self.connect_frame(client=self.client(mode="fast")),
                      self.connect_frame(role="node"),
                      {"type": "hello"}):
            error, code = self.first(frame)
            self.assertEqual((error["code"], code), ("INVALID_REQUEST", 1008), frame)

    def test_a_command_line_needs_a_device(self):
        error, code = self.first(self.connect_frame(client=self.client(id="cli", mode="cli")))
        self.assertEqual((error["code"], error["details"]["code"], code), ("NOT_PAIRED", "DEVICE_IDENTITY_REQUIRED", 1008))

    def test_a_stranger_may_not_send_much(self):
        self.assertEqual(self.first(json.dumps({"x": "y" * 70_000})), (None, 1009))

    def test_what_is_not_json_ends_the_connection(self):
        self.assertEqual(self.first("hello"), (None, 1000))
        self.assertEqual(self.first("[" * 60_000), (None, 1000))

    def test_binary_and_bad_utf8_end_the_connection(self):
        self.assertEqual(self.first(b"{}", BINARY), (None, 1003))
        self.assertEqual(self.first(b'{"type":"\xff"}'), (None, 1007))

    def test_a_fragmented_handshake_is_one(self):
        socket = WebSocket(self.gateway.port)
        self.addCleanup(socket.socket.close)
        socket.receive()
        text = json.dumps(self.connect_frame())
        socket.send(text[:20], final=False)
        socket.send(b"x", gateway_client.PING)
        socket.send(text[20:50], 0, final=False)
        socket.send(text[50:], 0)
        self.assertEqual(json.loads(socket.receive())["payload"]["type"], "hello-ok")

    def status(self, headers):
        socket = WebSocket(self.gateway.port, headers=headers)
        socket.socket.close()
        return socket.status

    def test_pages_of_other_sites_are_refused(self):
        for headers in (["Origin: http://evil.example"], ["Origin: null"]):
            self.assertEqual(self.status(headers), 403)
        self.assertEqual(self.status([f"Origin: http://127.0.0.1:{self.gateway.port}"]), 101)
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "[::1].evil.example", "127.0.0.1.evil.example:80"):
            self.assertEqual(self.gateway.get("/", headers={"Host": host})[0], 403, host)
        for host in ("LOCALHOST", "localhost:80", "[::1]", "[::1]:80", "127.0.0.1"):
            self.assertEqual(self.gateway.get("/", headers={"Host": host})[0], 200, host)

    def test_refusals_are_counted(self):
        self.first(self.connect_frame(bogus=1))
        self.gateway.connect()
        self.assertEqual(self.gateway.metric("handshakes_total"), 1)
        self.assertEqual(self.gateway.metric("handshakes_refused_total"), 1)


class Token(GatewayTest):
    def test_with_a_token_nobody_comes_in_without_it(self):
        gateway = self.start_gateway("--bind", "0.0.0.0", env={"TARE_GATEWAY_TOKEN": "sesame"})
        for auth, code in ((None, "AUTH_TOKEN_MISSING"), ({"token": "open"}, "AUTH_TOKEN_MISMATCH")):
            changes = {} if auth is None else {"auth": auth}
            with self.assertRaises(Refused) as refused:
                gateway.connect(**changes)
            self.assertEqual(refused.exception.details["code"], code)
        self.assertEqual(gateway.connect(auth={"token": "sesame"}).call("health")["ok"], True)
        self.assertEqual(gateway.get("/metrics")[0], 401)
        self.assertEqual(gateway.get("/metrics", headers={"Authorization": "Bearer sesame"})[0], 200)
        self.assertEqual(gateway.get("/healthz")[0], 200)
        self.assertNotIn("sesame", "".join(gateway.log))

    def test_without_one_it_listens_to_its_own_machine_alone(self):
        line = self.refused("serve", "gateway", "--bind", "0.0.0.0", "--state", self.folder / "state")
        self.assertIn("refusing to listen on 0.0.0.0 without a token", line)
        self.assertFalse((self.folder / "state").exists())


class Methods(GatewayTest):
    def setUp(self):
        super().setUp()
        self.gateway = self.start_gateway(provider=self.start_provider("--chunks", 3))
        self.client = self.gateway.connect()

    def test_a_turn_in_order(self):
        client = self.client
        client.call("sessions.subscribe")
        bystander = self.gateway.connect()
        agent = client.post("agent", {"sessionKey": "agent:main:t", "message": "say [[marker:Zebra]]", "deliver": False,
                                      "idempotencyKey": "k1"})
        wait = client.post("agent.wait", {"runId": "k1", "timeoutMs": 20_000})
        client.response(agent, 1)
        client.until(lambda f: f.get("event") == "sessions.changed" and f["payload"]["reason"] == "agent.input.settled")
        story = []
        for frame in client.frames[2:]:
            if frame["type"] == "res":
                story.append({agent: "agent", wait: "wait"}[frame["id"]] + " " + frame["payload"]["status"])
            elif frame["event"] == "agent":
                data = frame["payload"]["data"]
                story.append("agent " + (data["phase"] if frame["payload"]["stream"] == "lifecycle" else frame["payload"]["stream"]))
            elif frame["event"] == "chat":
                story.append("chat " + frame["payload"]["state"])
            elif frame["event"] == "task":
                story.append("task " + frame["payload"]["task"]["status"])
            elif frame["event"] == "session.message":
                story.append("message " + frame["payload"]["message"]["role"])
            else:
                story.append(frame["payload"]["reason"])
        deltas = story.count("chat delta")
        self.assertEqual(story, [
            "agent accepted", "send", "task running", "agent.run.started", "agent start", "message user",
            *["agent assistant", "chat delta"] * deltas, "agent usage", "message assistant", "agent end", "chat final",
            "wait ok", "task completed", "agent ok", "agent.input.settled"])
        self.assertEqual([f["seq"] for f in client.events()], list(range(1, len(client.events()) + 1)))
        chats = [f["payload"] for f in client.events("chat")]
        self.assertEqual("".join(c["deltaText"] for c in chats[:-1]), "Zebra 2 3")
        self.assertEqual(chats[-1]["message"]["content"], [{"type": "text", "text": "Zebra 2 3"}])
        self.assertEqual([c["seq"] for c in chats], list(range(1, len(chats) + 1)))
        # Who subscribed to nothing hears of the run, and nothing of the session.
        bystander.call("health")
        heard = {f["event"] for f in bystander.events()}
        self.assertEqual(heard, {"agent", "chat", "task"})

    def test_every_method_of_the_table_answers(self):
        call = self.client.call
        made = call("sessions.create", {"key": "s", "agentId": "main", "cwd": "/tmp"})
        self.assertEqual((made["ok"], made["key"], made["runStarted"]), (True, "s", False))
        self.assertLessEqual({"sessionId", "lifecycleRevision", "updatedAt", "sessionRoot", "createdVia", "spawnDepth"}, set(made["entry"]))
        self.assertEqual(set(made["resolved"]), {"modelProvider", "model"})
        self.assertEqual(call("sessions.subscribe"), {"subscribed": True})
        self.assertEqual(call("sessions.unsubscribe"), {"subscribed": False})
        self.assertEqual(call("sessions.observer.visibility", {"visible": True}), {"ok": True})
        self.assertEqual(call("sessions.messages.subscribe", {"key": "s"}), {"subscribed": True, "key": "s"})
        self.assertEqual(call("sessions.messages.unsubscribe", {"key": "s"}), {"subscribed": False, "key": "s"})
        patched = call("sessions.patch", {"key": "s", "label": "L"})
        self.assertEqual((patched["ok"], patched["entry"]["label"]), (True, "L"))
        self.assertEqual(call("sessions.describe", {"key": "s"})["entry"]["sessionId"], made["sessionId"])
        injected = call("chat.inject", {"sessionKey": "s", "message": "note"})
        history = call("chat.history", {"sessionKey": "s"})
        self.assertEqual(history["messages"][0]["__openclaw"], {"id": injected["messageId"], "seq": 1})
        self.assertLessEqual({"sessionKey", "sessionId", "messages", "pendingInputs", "deltaCursor", "hasMore", "totalMessages",
                              "defaults", "sessionInfo"}, set(history))
        listed = call("sessions.list")
        self.assertLessEqual({"ts", "count", "totalCount", "limitApplied", "nextOffset", "hasMore", "owners", "defaults", "sessions"}, set(listed))
        self.assertLessEqual({"key", "sessionId", "label", "displayName", "kind", "status", "hasActiveRun", "activeRunIds", "updatedAt",
                              "totalTokens", "spawnedBy", "spawnDepth", "childSessions"}, set(listed["sessions"][0]))
        self.client.run("s", key="k")
        self.assertEqual(call("agent.wait", {"runId": "k", "timeoutMs": 1000})["terminalReceipt"]["successfulToolNames"], [])
        self.assertEqual(call("agent.abort", {"runId": "k"}), {"ok": True, "aborted": False, "runIds": []})
        self.assertEqual(call("chat.abort", {"sessionKey": "s"}), {"ok": True, "aborted": False, "runIds": []})
        self.assertEqual(call("tasks.list")["tasks"][0]["runId"], "k")
        self.assertEqual(call("cron.list"), {"jobs": []})
        self.assertEqual(call("cron.status")["storage"], "sqlite")
        status = call("status", {"includeChannelSummary": False})
        self.assertGreater(status["processMemory"]["rssBytes"], 1_000_000)
        self.assertEqual(status["pid"], self.gateway.process.pid)
        self.assertTrue(call("health")["ok"])
        self.assertTrue(call("sessions.delete", {"key": "s"})["ok"])
        self.assertEqual(call("sessions.list")["totalCount"], 0)

    def test_bad_requests_are_refused_and_the_connection_stays(self):
        for method, params, message in (
                ("sessions.list", {"bogus": 1}, "at root: unexpected property 'bogus'"),
                ("sessions.list", {"limit": "ten"}, "at /limit"),
                ("agent", {"sessionKey": "s"}, "must have required property"),
                ("nonsense", {}, "unknown method: nonsense"),
                ("health", None, None)):
            if message is None:
                self.assertTrue(self.client.call(method, params)["ok"])
                continue
            with self.assertRaises(Refused) as refused:
                self.client.call(method, params)
            self.assertEqual(refused.exception.code, "INVALID_REQUEST")
            self.assertIn(message, refused.exception.error["message"])
        self.client.socket.send(json.dumps({"type": "req", "id": "odd", "method": "health", "extra": 1}))
        with self.assertRaises(Refused):
            self.client.response("odd")
        self.assertTrue(self.client.call("health")["ok"])

    def test_a_scope_that_is_missing_is_named(self):
        reader = self.gateway.connect(scopes=["operator.read"])
        with self.assertRaises(Refused) as refused:
            reader.call("sessions.patch", {"key": "s", "label": "x"})
        self.assertEqual(refused.exception.code, "FORBIDDEN")
        self.assertEqual(refused.exception.details, {"code": "MISSING_SCOPE", "missingScope": "operator.admin",
                                                     "requiredScopes": ["operator.admin"]})

    def test_one_key_is_one_run(self):
        first = self.client.run("s", "say [[marker:once]]", key="same")
        again = self.client.post("agent", {"sessionKey": "s", "message": "say [[marker:once]]", "idempotencyKey": "same"})
        self.assertEqual(self.client.response(again), first[1])
        self.assertEqual(self.client.call("chat.history", {"sessionKey": "s"})["totalMessages"], 2)

    def test_waiting_has_a_limit(self):
        self.assertEqual(self.client.call("agent.wait", {"runId": "nobody", "timeoutMs": 50}), {"runId": "nobody", "status": "timeout"})

    def test_a_run_can_be_aborted(self):
        agent = self.client.post("agent", {"sessionKey": "s", "message": "[[marker:slow]] [[delay:60000]]", "idempotencyKey": "k"})
        self.client.response(agent)
        self.client.until(lambda f: f.get("event") == "chat")
        self.assertTrue(self.client.call("chat.abort", {"runId": "k"})["aborted"])
        waited = self.client.call("agent.wait", {"runId": "k", "timeoutMs": 20_000})
        self.assertEqual((waited["status"], waited["stopReason"]), ("error", "aborted"))
        self.assertEqual(self.client.run("s", "[[marker:next]]")[1]["status"], "ok")
        self.assertEqual([text_of(m) for m in self.client.call("chat.history", {"sessionKey": "s"})["messages"]][1], "slow")

    def test_each_way_in_which_a_provider_fails_ends_the_turn_and_not_the_session(self):
        for fault in ("500,times=9", "cut,after=1", "garbage,after=1", "error,after=1", "429,retry-after=0,times=9", "html"):
            agent = self.client.post("agent", {"sessionKey": "s", "message": f"[[marker:x]] [[fault:{fault}]]",
                                               "idempotencyKey": f"k-{fault}"})
            self.client.response(agent)
            with self.assertRaises(Refused, msg=fault) as refused:
                self.client.response(agent, 1)
            self.assertEqual(refused.exception.code, "UNAVAILABLE", fault)
            self.assertEqual(self.client.events("chat")[-1]["payload"]["state"], "error", fault)
            self.assertEqual(self.client.call("sessions.list")["sessions"][0]["status"], "failed")
        self.assertEqual(self.client.run("s", "[[marker:fine]]")[1]["status"], "ok")

    def test_large_messages_go_through_and_too_large_ones_end_the_connection(self):
        text = "x" * 1_000_000
        self.client.call("sessions.create", {"key": "s", "agentId": "main"})
        self.client.call("chat.inject", {"sessionKey": "s", "message": text})
        self.assertEqual(self.client.call("chat.history", {"sessionKey": "s"})["messages"][0]["content"][0]["text"], text)
        with self.assertRaises((Closed, OSError)) as closed:
            self.client.call("chat.inject", {"sessionKey": "s", "message": "x" * 27_000_000})
        if isinstance(closed.exception, Closed) and closed.exception.code is not None:
            self.assertEqual(closed.exception.code, 1009)
        self.assertTrue(self.gateway.connect().call("health")["ok"])

    def test_the_command_line_calls_a_method(self):
        url = self.gateway.ready["url"]
        result = self.tare("gateway", "call", "--url", url, "sessions.list", '{"limit":1}')
        self.assertEqual((result.returncode, json.loads(result.stdout)["totalCount"]), (0, 0), result.stderr)
        result = self.tare("gateway", "call", "--url", url, "--final", "agent",
                           '{"sessionKey":"s","message":"[[marker:hi]]","idempotencyKey":"1"}')
        self.assertEqual(json.loads(result.stdout)["status"], "ok")
        self.assertIn("the gateway refused: unknown method: nope", self.refused("gateway", "call", "--url", url, "nope", code=1))

    def test_a_command_line_that_reaches_no_gateway_says_so(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            url = f"ws://127.0.0.1:{closed.getsockname()[1]}"
        self.assertIn("does `tare serve gateway` run there?", self.refused("gateway", "call", "--url", url, "health"))
        frames = ('hello', '[1]', '5', '{"type":"res","id":"connect"}', '{"type":"res","id":"connect","ok":"yes"}',
                  '{"type":"res","id":"connect","ok":false,"error":{"message":5}}')
        with socket.create_server(("127.0.0.1", 0)) as server:
            stranger = threading.Thread(target=self.answer_with, args=(server, frames))
            stranger.start()
            url = f"ws://127.0.0.1:{server.getsockname()[1]}"
            for frame in frames:
                line = self.refused("gateway", "call", "--url", url, "health", code=1)
                self.assertIn("what answers there is no gateway", line, frame)
            stranger.join(timeout=20)

    @staticmethod
    def answer_with(server, frames):
        """A WebSocket server that says each of these to one client."""
        server.settimeout(20)
        for frame in frames:
            client, _ = server.accept()
            with client:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += client.recv(4096)
                key = next(line.split(b": ")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key"))
                accept = base64.b64encode(hashlib.sha1(key + gateway_client.GUID).digest())
                client.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                               b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n" + bytes([0x81, len(frame)]) + frame.encode())
                client.settimeout(20)
                while client.recv(4096):  # until it has gone
                    pass

    def test_pages(self):
        get = self.gateway.get
        for path in ("/healthz", "/health"):
            self.assertEqual(get(path), (200, '{"ok":true,"status":"live"}'))
        for path in ("/readyz", "/ready"):
            status, body = get(path)
            ready = json.loads(body)
            self.assertEqual((status, ready["ready"], ready["failing"]), (200, True, []))
            self.assertLessEqual({"degraded", "degradedSinceMs", "reasons", "intervalMs", "delayP99Ms", "delayMaxMs", "utilization",
                                  "cpuCoreRatio", "cpuBreakdown"}, set(ready["eventLoop"]))
        self.assertIn("<html", get("/")[1])
        self.assertEqual(get("/nothing")[0], 404)
        self.assertEqual(get("/", "POST")[0], 405)
        metrics = get("/metrics")[1]
        for line in metrics.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) tare_gateway_\w+ .+|tare_gateway_\w+(\{\w+="[^"]*"\})? [0-9.e+-]+)$')


class Life(GatewayTest):
    def test_what_was_said_is_there_after_a_restart(self):
        provider = self.start_provider("--chunks", 3)
        gateway = self.start_gateway(provider=provider)
        client = gateway.connect()
        first = client.run("s", "[[marker:kept]]", key="k1")
        client.call("sessions.patch", {"key": "s", "label": "named"})
        before = client.call("chat.history", {"sessionKey": "s"})
        self.assertEqual(gateway.stop(), 0)
        client = self.start_gateway(provider=provider).connect()
        after = client.call("chat.history", {"sessionKey": "s"})
        self.assertEqual((after["messages"], after["sessionId"]), (before["messages"], before["sessionId"]))
        self.assertEqual(client.call("sessions.describe", {"key": "s"})["entry"]["label"], "named")
        again = client.post("agent", {"sessionKey": "s", "message": "[[marker:kept]]", "idempotencyKey": "k1"})
        self.assertEqual(client.response(again)["result"]["payloads"], first[1]["result"]["payloads"])
        self.assertEqual(client.run("s", "[[marker:more]]")[1]["status"], "ok")

    def test_sigterm_lets_a_run_end(self):
        gateway = self.start_gateway(provider=self.start_provider("--chunks", 4, "--chunk-delay-ms", 100))
        client = gateway.connect()
        agent = client.post("agent", {"sessionKey": "s", "message": "[[marker:end]]", "idempotencyKey": "k"})
        client.until(lambda f: f.get("event") == "chat")
        gateway.process.send_signal(signal.SIGTERM)
        client.until(lambda f: f.get("event") == "shutdown")
        self.assertEqual(gateway.get("/readyz")[0], 503)
        with self.assertRaises(Refused) as refused:
            client.call("agent", {"sessionKey": "s", "message": "more", "idempotencyKey": "k2"})
        self.assertEqual(refused.exception.details["reason"], "shutting-down")
        self.assertEqual(client.response(agent, 1)["status"], "ok")
        with self.assertRaises(Closed) as closed:
            while True:
                client.read()
        self.assertEqual(closed.exception.code, 1001)
        self.assertEqual(gateway.stop(), 0)

    def test_a_second_signal_does_not_wait_and_the_run_is_marked(self):
        provider = self.start_provider("--chunks", 4)
        gateway = self.start_gateway(provider=provider)
        client = gateway.connect()
        client.response(client.post("agent", {"sessionKey": "s", "message": "[[marker:part]] [[delay:60000]]", "idempotencyKey": "k"}))
        client.until(lambda f: f.get("event") == "chat")
        gateway.process.send_signal(signal.SIGTERM)
        client.until(lambda f: f.get("event") == "shutdown")
        self.assertEqual(gateway.stop(), 0)
        client = self.start_gateway(provider=provider).connect()
        self.assertEqual(client.call("agent.wait", {"runId": "k"})["stopReason"], "interrupted")
        messages = client.call("chat.history", {"sessionKey": "s"})["messages"]
        self.assertEqual([(m["role"], text_of(m)) for m in messages],
                         [("user", "[[marker:part]] [[delay:60000]]"), ("assistant", "part")])

    def test_each_signal_that_stops_it_is_named(self):
        for sent in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            gateway = self.start_gateway()
            self.assertEqual(gateway.stop(sent), 0)
            self.assertIn(sent.name, [record.get("why") for record in gateway.records()])

    def test_it_logs_lines_of_json_and_traces_its_start(self):
        timeline = self.folder / "timeline.jsonl"
        gateway = self.start_gateway("--log-level", "debug", provider=self.start_provider(),
                                     env={"OPENCLAW_DIAGNOSTICS": "timeline", "OPENCLAW_DIAGNOSTICS_TIMELINE_PATH": str(timeline)})
        gateway.connect().run("s", key="k")
        self.assertEqual(gateway.stop(), 0)
        for record in gateway.records():
            self.assertLessEqual({"ts", "level", "msg"}, set(record))
        self.assertRegex("".join(gateway.log), r"startup trace: sidecars\.ready \d")
        ended = [r for r in gateway.records() if r["msg"] == "run ended"]
        self.assertEqual([(r["run"], r["outcome"]) for r in ended], [("k", "ok")])
        text = timeline.read_text(encoding="utf-8")
        self.assertTrue(text.endswith("\n"))
        spans = [json.loads(line) for line in text.splitlines()]
        self.assertEqual({(s["schemaVersion"], s["type"]) for s in spans}, {("openclaw.diagnostics.v1", "span.end")})
        self.assertLessEqual({"gateway.startup.sidecars.ready", "agent.turn"}, {s["name"] for s in spans})
        for span in spans:
            self.assertGreaterEqual(span["durationMs"], 0)

    def test_flags_count_over_the_environment_over_the_file(self):
        config = self.folder / "gateway.toml"
        config.write_text('model = "from-file"\nmax-payload = 2048\nlog-level = "warn"\n', encoding="utf-8")
        gateway = self.start_gateway("--config", config, "--max-payload", 4096, env={"TARE_GATEWAY_MODEL": "from-environment"})
        client = gateway.connect()
        self.assertEqual(client.hello["policy"]["maxPayload"], 4096)
        self.assertEqual(client.call("sessions.list")["defaults"]["model"], "from-environment")
        self.assertEqual(gateway.stop(), 0)
        self.assertEqual(gateway.log, [])

    def test_bad_settings_are_refused_by_their_place(self):
        config = self.folder / "gateway.toml"
        config.write_text("port = 1\nmodle = 2\n", encoding="utf-8")
        self.assertRegex(self.refused("serve", "gateway", "--config", config), r"gateway\.toml:2: unknown key 'modle'.*did you mean 'model'")
        config.write_text("port = 70000\n", encoding="utf-8")
        self.assertRegex(self.refused("serve", "gateway", "--config", config), r"gateway\.toml:1: port must be 0 to 65535, got 70000")
        config.write_text("port = = 1\n", encoding="utf-8")
        self.assertRegex(self.refused("serve", "gateway", "--config", config), r"gateway\.toml:1: not TOML")
        self.assertIn("--max-concurrent must be 1 to 10000", self.refused("serve", "gateway", "--max-concurrent", "0"))
        self.assertIn("TARE_GATEWAY_PORT must be", self.refused("serve", "gateway", env={"TARE_GATEWAY_PORT": "x"}))
        self.assertIn("--provider-api must be responses or chat", self.refused("serve", "gateway", "--provider-api", "soap"))

    def test_a_port_that_is_taken_is_refused(self):
        gateway = self.start_gateway()
        line = self.refused("serve", "gateway", "--port", gateway.port, "--state", self.folder / "other")
        self.assertIn(f"cannot listen on 127.0.0.1:{gateway.port}", line)


if __name__ == "__main__":
    harness.main()
