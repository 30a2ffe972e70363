"""The same requests to the built-in gateway and to the real one: what both must agree on.

Needs npm's openclaw 2026.9.6: in $TARE_OPENCLAW, or where Tare keeps what it installs. Without it, it says so and is skipped."""

import json
import os
import pathlib
import platform
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

import gateway_client  # noqa: E402
import harness  # noqa: E402
from gateway_client import Closed, Refused, WebSocket, connect_params, text_of  # noqa: E402
from gateway_world import GatewayTest  # noqa: E402

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tare"
ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
NODE = CACHE / "node" / "node_modules" / f"node-linux-{ARCH}" / "bin" / "node"
OPENCLAW = pathlib.Path(os.environ.get("TARE_OPENCLAW") or CACHE / "openclaw" / "node_modules" / "openclaw")
MODEL = "gpt-5.6-luna"


def config(provider_url):
    model = {"id": MODEL, "name": MODEL, "api": "openai-responses", "agentRuntime": {"id": "openclaw"}, "reasoning": False,
             "input": ["text", "image"], "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
             "contextWindow": 128000, "contextTokens": 96000, "maxTokens": 4096}
    return {
        "browser": {"enabled": False}, "update": {"checkOnStart": False}, "discovery": {"mdns": {"mode": "off"}},
        "gateway": {"mode": "local", "bind": "loopback", "auth": {"mode": "none"}, "tailscale": {"mode": "off"}},
        "plugins": {"enabled": True, "entries": {"browser": {"enabled": False}}},
        "models": {"mode": "merge", "catalogRefresh": {"enabled": False}, "providers": {"openai": {
            "baseUrl": provider_url, "apiKey": {"source": "env", "provider": "default", "id": "OPENAI_API_KEY"},
            "api": "openai-responses", "agentRuntime": {"id": "openclaw"}, "request": {"allowPrivateNetwork": True}, "models": [model]}}},
        "agents": {"defaults": {"model": {"primary": f"openai/{MODEL}"}, "models": {f"openai/{MODEL}": {
            "agentRuntime": {"id": "openclaw"}, "params": {"transport": "sse", "openaiWsWarmup": False}}},
            "maxConcurrent": 8, "heartbeat": {"every": "0m"}, "utilityModel": ""}}}


SKIPPED = 77  # what CTest shows as skipped


class Agreement(GatewayTest):
    def setUp(self):
        super().setUp()
        provider = self.start_provider("--chunks", 3)
        self.ports = {"built-in": self.start_gateway(provider=provider).port, "openclaw": self.start_openclaw(provider)}

    def start_openclaw(self, provider):
        root = self.folder / "openclaw"
        root.mkdir()
        (root / "config.json").write_text(json.dumps(config(provider)), encoding="utf-8")
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        log = (root / "log").open("w+b")
        self.addCleanup(log.close)
        environment = {"PATH": f"{NODE.parent}:/usr/bin:/bin", "HOME": str(root), "OPENCLAW_HOME": str(root), "CI": "1", "NO_COLOR": "1",
                       "OPENCLAW_STATE_DIR": str(root / "state"), "OPENCLAW_CONFIG_PATH": str(root / "config.json"),
                       "OPENCLAW_NO_RESPAWN": "1", "OPENCLAW_SKIP_CHANNELS": "1", "OPENCLAW_GATEWAY_STARTUP_TRACE": "1",
                       "OPENAI_API_KEY": "any"}
        process = subprocess.Popen(
            [str(NODE), "dist/entry.js", "gateway", "run", "--port", str(port), "--bind", "loopback", "--auth", "none",
             "--tailscale", "off", "--allow-unconfigured"],
            cwd=OPENCLAW, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.addCleanup(self.kill_group, process)
        end = time.monotonic() + 120
        while b"startup trace: sidecars.ready " not in (root / "log").read_bytes():
            self.assertIsNone(process.poll(), (root / "log").read_text(encoding="utf-8")[-2000:])
            self.assertLess(time.monotonic(), end, "it did not become ready")
            time.sleep(0.1)
        return port

    @staticmethod
    def kill_group(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait(timeout=30)

    def both(self, ask):
        return {name: ask(port) for name, port in self.ports.items()}

    def agree(self, ask):
        answers = self.both(ask)
        self.assertEqual(answers["built-in"], answers["openclaw"])
        return answers["built-in"]

    def refused_handshake(self, port, frame):
        connection = WebSocket(port, timeout=30)
        self.addCleanup(connection.socket.close)
        connection.receive()
        error = None
        try:
            connection.send(frame if isinstance(frame, str) else json.dumps(frame))
            answer = json.loads(connection.receive())["error"]
            details = answer.get("details") or {}
            error = (answer["code"], details.get("code"), details.get("expectedProtocol"))
            connection.receive()
        except Closed as closed:
            return error, closed.code
        return error, None

    def test_handshakes_fail_alike(self):
        def frame(**changes):
            return {"type": "req", "id": "1", "method": "connect", "params": connect_params(**changes)}

        def client(**changes):
            return {**connect_params()["client"], **changes}

        for wrong in (frame(minProtocol=3, maxProtocol=3), {"type": "req", "id": "1", "method": "health", "params": {}},
                      frame(client=client(id="netscape")), frame(bogus=1), frame(client=client(id="cli", mode="cli")),
                      json.dumps({"x": "y" * 70_000}), "hello"):
            with self.subTest(str(wrong)[:80]):
                self.agree(lambda port, sent=wrong: self.refused_handshake(port, sent))

    def turn(self, port):
        """A turn, as far as both must agree on it."""
        client = gateway_client.Gateway(port, timeout=90)
        self.addCleanup(client.socket.socket.close)
        client.call("sessions.subscribe")
        client.call("sessions.create", {"key": "agent:main:t", "agentId": "main"})
        agent = client.post("agent", {"sessionKey": "agent:main:t", "message": "say [[marker:Zebra]]", "deliver": False,
                                      "idempotencyKey": "k1"})
        accepted = client.response(agent)
        waited = client.call("agent.wait", {"runId": "k1", "timeoutMs": 60_000})
        final = client.response(agent, 1)
        def is_settled(frame):
            return frame.get("event") == "sessions.changed" and frame["payload"].get("reason") == "agent.input.settled"

        if not any(map(is_settled, client.frames)):
            client.until(is_settled, 60)
        chats = [f["payload"] for f in client.events("chat")]
        history = client.call("chat.history", {"sessionKey": "agent:main:t"})
        return {
            "accepted": {key: accepted[key] for key in ("runId", "sessionKey", "agentId", "status")},
            "wait": {key: waited[key] for key in ("runId", "status", "stopReason", "terminalReply")},
            "tools": waited["terminalReceipt"]["successfulToolNames"],
            "final": (final["status"], final["summary"], final["result"]["payloads"]),
            "chat": ("".join(c["deltaText"] for c in chats if c["state"] == "delta"), chats[-1]["state"], chats[-1]["message"]["content"]),
            "agent": [s for s in ("lifecycle", "assistant", "usage") if s in {f["payload"]["stream"] for f in client.events("agent")}],
            "tasks": [f["payload"]["task"]["status"] for f in client.events("task")][-1],
            "history": [(m["role"], text_of(m)) for m in history["messages"]],
            "pending": history["pendingInputs"],
            "seq": [f["seq"] for f in client.events() if "seq" in f] == sorted({f["seq"] for f in client.events() if "seq" in f}),
        }

    def test_a_turn_comes_to_the_same(self):
        self.assertEqual(self.agree(self.turn)["history"], [("user", "say [[marker:Zebra]]"), ("assistant", "Zebra 2 3")])

    def refusal(self, port, method, params):
        client = gateway_client.Gateway(port, timeout=60)
        self.addCleanup(client.socket.socket.close)
        with self.assertRaises(Refused) as refused:
            client.call(method, params)
        return refused.exception.code, refused.exception.error["message"]

    def test_requests_are_refused_alike(self):
        for method, params in (("sessions.list", {"bogus": 1}), ("nonsense", {})):
            self.agree(lambda port, m=method, p=params: self.refusal(port, m, p))

    def test_answers_have_the_members_of_the_real_ones(self):
        def members(port):
            client = gateway_client.Gateway(port, timeout=60)
            self.addCleanup(client.socket.socket.close)
            client.call("sessions.create", {"key": "agent:main:m", "agentId": "main"})
            client.call("chat.inject", {"sessionKey": "agent:main:m", "message": "note"})
            found = {"sessions.list": client.call("sessions.list")["sessions"][0]}
            for method, params in (("sessions.list", {}), ("chat.history", {"sessionKey": "agent:main:m"}), ("tasks.list", {}),
                                   ("cron.list", {}), ("cron.status", {}), ("chat.abort", {"sessionKey": "agent:main:m"}),
                                   ("sessions.patch", {"key": "agent:main:m", "label": "L"}),
                                   ("sessions.messages.subscribe", {"key": "agent:main:m"}),
                                   ("agent.wait", {"runId": "nobody", "timeoutMs": 20})):
                found[f"{method} payload"] = client.call(method, params)
            return {name: set(value) for name, value in found.items()}

        answers = self.both(members)
        # Those of ours that the real one leaves out when they are absent.
        ours_alone = {"sessions.list": {"status", "label", "displayName", "spawnedBy", "childSessions", "cwd", "inputTokens", "outputTokens", "totalTokens"}}
        for name, ours in answers["built-in"].items():
            self.assertLessEqual(ours - ours_alone.get(name, set()), answers["openclaw"][name], name)


class RealClient(GatewayTest):
    """`openclaw gateway call` talks to the built-in gateway."""

    TOKEN = "a-token-of-this-test"

    def call(self, port, method, params, *flags, token=TOKEN):
        home = self.folder / "home"
        return subprocess.run(
            [str(NODE), "dist/entry.js", "gateway", "call", method, "--params", json.dumps(params), "--json",
             "--url", f"ws://127.0.0.1:{port}", "--token", token, *flags],
            cwd=OPENCLAW, capture_output=True, text=True, timeout=120,
            env={"PATH": f"{NODE.parent}:/usr/bin:/bin", "HOME": str(home), "OPENCLAW_HOME": str(home), "CI": "1", "NO_COLOR": "1"})

    def answer(self, *arguments):
        result = self.call(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_it_calls_methods_and_waits_for_a_turn(self):
        port = self.start_gateway("--token", self.TOKEN, provider=self.start_provider("--chunks", 3)).port
        self.assertTrue(self.answer(port, "health", {})["ok"])
        final = self.answer(port, "agent", {"sessionKey": "agent:main:one", "message": "say [[marker:Zebra]]", "deliver": False,
                                            "idempotencyKey": "one"}, "--expect-final")
        self.assertEqual((final["runId"], final["status"]), ("one", "ok"))
        history = self.answer(port, "chat.history", {"sessionKey": "agent:main:one"})
        self.assertEqual([text_of(message) for message in history["messages"]], ["say [[marker:Zebra]]", "Zebra 2 3"])
        refused = self.call(port, "health", {}, token="another")
        self.assertNotEqual(refused.returncode, 0)


if __name__ == "__main__":
    if not NODE.exists() or not (OPENCLAW / "dist" / "entry.js").exists():
        print(f"skipped: there is no openclaw in {OPENCLAW}")
        sys.exit(SKIPPED)
    harness.main()
