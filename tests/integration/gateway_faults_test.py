"""The built-in gateway when things break: kills, full disks, damaged databases, clients that do not read."""

import json
import os
import random
import resource
import signal
import socket
import sqlite3
import threading
import time

import harness
from gateway_client import Closed, Gateway, Refused, WebSocket, text_of
from gateway_world import GatewayTest


class Crash(GatewayTest):
    def load(self, port, worker, acknowledged, stop):
        """Keeps asking until the gateway is gone, and writes down what it was promised."""
        try:
            client = Gateway(port)
            key = f"s{worker}"
            for turn in range(1000):
                if stop.is_set():
                    break
                run = f"{worker}-{turn}-{os.urandom(4).hex()}"
                # In a transcript the order of what was promised is that of the promises.
                agent = client.post("agent", {"sessionKey": key, "message": f"[[marker:{run}]]", "idempotencyKey": run})
                client.response(agent)
                acknowledged["accepted"].append((key, run))
                label = f"label {turn}"
                client.call("sessions.patch", {"key": key, "label": label})
                acknowledged["labels"][key] = label
                client.response(agent, 1)
                acknowledged["replied"].append((key, run))
        except (Closed, OSError):
            pass
        finally:
            client.socket.socket.close()

    def test_what_was_acknowledged_survives_a_kill_at_any_moment(self):
        provider = self.start_provider("--chunks", 3, "--chunk-delay-ms", 1)
        acknowledged = {"accepted": [], "labels": {}, "replied": []}
        chance = random.Random(7)
        for _ in range(6):
            gateway = self.start_gateway(provider=provider)
            stop = threading.Event()
            workers = [threading.Thread(target=self.load, args=(gateway.port, w, acknowledged, stop)) for w in range(4)]
            for worker in workers:
                worker.start()
            time.sleep(chance.uniform(0.05, 0.4))  # the moment of the kill, nothing waits for it
            self.assertNotEqual(gateway.stop(signal.SIGKILL), 0)
            stop.set()
            for worker in workers:
                worker.join(timeout=30)
        self.assertGreater(len(acknowledged["replied"]), 10)
        client = self.start_gateway(provider=provider).connect()
        texts = {}
        for key in {key for key, _ in acknowledged["accepted"]}:
            history = client.call("chat.history", {"sessionKey": key, "limit": 1000})
            self.assertFalse(history["hasMore"])
            texts[key] = [(m["role"], text_of(m)) for m in history["messages"]]
        for key, run in acknowledged["accepted"]:
            self.assertEqual(texts[key].count(("user", f"[[marker:{run}]]")), 1, run)
        for key, run in acknowledged["replied"]:
            self.assertEqual(texts[key].count(("assistant", f"{run} 2 3")), 1, run)
        for key, label in acknowledged["labels"].items():
            kept = client.call("sessions.describe", {"key": key})["entry"]["label"]
            # A patch whose promise was on its way may have come true as well.
            self.assertIn(kept, (label, f"label {int(label.split()[1]) + 1}", "label 0"))
        # Nothing is left that seems to run, and what was cut short says so.
        self.assertEqual(client.call("sessions.list", {"activeOnly": True})["totalCount"], 0)
        for task in client.call("tasks.list")["tasks"]:
            self.assertIn(task["status"], ("completed", "lost"))

    def test_a_run_that_was_cut_by_a_kill_is_marked(self):
        provider = self.start_provider("--chunks", 3)
        gateway = self.start_gateway(provider=provider)
        client = gateway.connect()
        client.response(client.post("agent", {"sessionKey": "s", "message": "[[delay:60000]]", "idempotencyKey": "k1"}))
        client.response(client.post("agent", {"sessionKey": "s", "message": "second", "idempotencyKey": "k2"}))
        gateway.stop(signal.SIGKILL)
        client = self.start_gateway(provider=provider).connect()
        for key in ("k1", "k2"):
            self.assertEqual(client.call("agent.wait", {"runId": key})["stopReason"], "interrupted")
        history = client.call("chat.history", {"sessionKey": "s"})["messages"]
        self.assertEqual([text_of(m) for m in history], ["[[delay:60000]]", "second"])
        self.assertEqual(client.run("s", "[[marker:on]]")[1]["status"], "ok")


class Disk(GatewayTest):
    def test_on_a_full_disk_nothing_is_acknowledged_and_the_gateway_lives_on(self):
        limit = 600 * 1024
        gateway = self.start_gateway(provider=self.start_provider(),
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        client = gateway.connect()
        client.call("sessions.create", {"key": "s", "agentId": "main"})
        kept = []
        with self.assertRaises(Refused) as refused:
            for i in range(1000):
                kept.append(client.call("chat.inject", {"sessionKey": "s", "message": f"{i} " + "x" * 20_000})["messageId"])
        self.assertEqual(refused.exception.code, "UNAVAILABLE")
        self.assertTrue(refused.exception.error["retryable"])
        self.assertIn("cannot store", refused.exception.error["message"])
        self.assertGreater(len(kept), 3)
        for method, params in (("chat.inject", {"sessionKey": "s", "message": "x" * 60_000}),
                               ("agent", {"sessionKey": "u", "message": "x" * 60_000, "idempotencyKey": "k"})):
            with self.assertRaises(Refused) as refused:
                client.call(method, params)
            self.assertEqual(refused.exception.code, "UNAVAILABLE")
        self.assertTrue(client.call("health")["ok"])
        self.assertEqual(client.call("sessions.list")["totalCount"], 1)
        history = client.call("chat.history", {"sessionKey": "s", "limit": 1000})["messages"]
        self.assertEqual([m["__openclaw"]["id"] for m in history], kept)
        self.assertEqual(gateway.stop(), 0)
        after = self.start_gateway().connect().call("chat.history", {"sessionKey": "s", "limit": 1000})
        self.assertEqual([m["__openclaw"]["id"] for m in after["messages"]], kept)

    def refused_untouched(self, path, cause):
        before = path.read_bytes()
        line = self.refused("serve", "gateway", "--port", 0, "--state", path.parent)
        self.assertIn(f"cannot use {path} ({cause}", line)
        self.assertEqual(path.read_bytes(), before)
        return line

    def test_a_database_that_cannot_be_used_is_refused_untouched(self):
        gateway = self.start_gateway()
        gateway.connect().call("sessions.create", {"key": "s", "agentId": "main"})
        gateway.stop()
        path = self.folder / "state" / "gateway.sqlite"
        good = path.read_bytes()
        path.write_bytes(b"not a database " * 1000)
        self.refused_untouched(path, "it is not a database")
        path.write_bytes(good[:4096] + b"\xab" * 4096 + good[8192:])
        self.assertIn("put a good copy in its place", self.refused_untouched(path, "it is damaged"))
        path.write_bytes(good[:-1])
        self.refused_untouched(path, "it is damaged")
        path.write_bytes(good)
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA user_version=42")
        database.close()
        line = self.refused_untouched(path, "its schema is version 42, this program knows 1")
        self.assertIn("use the program that made it", line)

    def test_one_gateway_has_it_at_a_time(self):
        self.start_gateway()
        line = self.refused("serve", "gateway", "--port", 0, "--state", self.folder / "state")
        self.assertIn("locked by another process", line)


class Descriptors(GatewayTest):
    def test_a_closed_stdout_is_an_error(self):
        process = self.start("serve", "gateway", "--port", 0, "--state", self.folder / "state", preexec_fn=lambda: os.close(1))
        self.addCleanup(self.end, process)
        self.assertIn("cannot write to standard output (Bad file descriptor)", process.stderr.read())
        self.assertEqual(process.wait(timeout=30), 1)

    def test_a_closed_stderr_is_no_other_file(self):
        gateway = self.start_gateway(preexec_fn=lambda: os.close(2))
        self.assertEqual(os.readlink(f"/proc/{gateway.process.pid}/fd/2"), "/dev/null")
        self.assertTrue(gateway.connect().call("health")["ok"])
        self.assertEqual(gateway.stop(), 0)

    def test_a_log_that_nobody_reads_holds_nobody_up(self):
        process = self.start("serve", "gateway", "--port", 0, "--state", self.folder / "state")
        self.addCleanup(self.end, process)
        port = json.loads(process.stdout.readline())["port"]
        for _ in range(1000):
            stranger = WebSocket(port)
            stranger.receive()
            stranger.send('{"type":"req","id":"1","method":"x"}')
            self.assertIn("INVALID_REQUEST", stranger.receive())
            stranger.socket.close()
        client = Gateway(port)
        self.addCleanup(client.socket.socket.close)
        self.assertTrue(client.call("health")["ok"])
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=30), 0)

    def test_with_few_descriptors_those_who_came_are_served(self):
        gateway = self.start_gateway(provider=self.start_provider(), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
        client = gateway.connect()
        waiting = [socket.create_connection(("127.0.0.1", gateway.port), timeout=20) for _ in range(100)]
        try:
            self.assertTrue(client.call("health")["ok"])
        finally:
            for each in waiting:
                each.close()
        self.assertEqual(client.run("s")[1]["status"], "ok")
        self.assertTrue(gateway.connect().call("health")["ok"])


class Clients(GatewayTest):
    def test_a_client_that_does_not_read_is_dropped_and_others_are_served(self):
        gateway = self.start_gateway("--max-buffered", 256 * 1024, provider=self.start_provider())
        lazy = gateway.connect()
        lazy.call("sessions.subscribe")
        lazy.socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client = gateway.connect()
        client.call("sessions.create", {"key": "s", "agentId": "main"})
        for _ in range(1000):
            client.call("chat.inject", {"sessionKey": "s", "message": "x" * 50_000})
            if gateway.metric("clients_dropped_slow_total") == 1:
                break
        self.assertEqual(gateway.metric("clients_dropped_slow_total"), 1)
        self.assertEqual(client.run("s")[1]["status"], "ok")
        self.assertTrue(any(r["msg"] == "dropped a client that does not read" for r in gateway.records()))
        client.call("health")
        self.assertEqual(gateway.metric("clients"), 1)

    def test_clients_that_vanish_leave_nothing_behind(self):
        gateway = self.start_gateway(provider=self.start_provider("--chunk-delay-ms", 5))
        watcher = gateway.connect()
        for i in range(50):
            client = Gateway(gateway.port)
            client.call("sessions.subscribe")
            client.call("sessions.messages.subscribe", {"key": "s"})
            client.post("agent", {"sessionKey": f"s{i % 5}", "message": "hi", "idempotencyKey": f"k{i}"})
            client.post("agent.wait", {"runId": f"k{i}", "timeoutMs": 60_000})
            client.socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            client.socket.socket.close()
        for i in range(50):  # those that were accepted run on, whoever asked
            watcher.call("agent.wait", {"runId": f"k{i}", "timeoutMs": 200})
        end = time.monotonic() + 20
        while gateway.metric("clients") > 1 and time.monotonic() < end:
            pass
        self.assertEqual(gateway.metric("clients"), 1)
        self.assertEqual(gateway.metric("subscriptions"), 0)
        self.assertEqual(watcher.call("sessions.list", {"activeOnly": True})["totalCount"], 0)
        self.assertEqual(gateway.stop(), 0)

    def test_a_thousand_connections_are_served_and_one_too_many_is_closed(self):
        gateway = self.start_gateway("--max-connections", 1000)
        sockets = []
        try:
            for _ in range(1000):
                sockets.append(socket.create_connection(("127.0.0.1", gateway.port), timeout=20))
            extra = socket.create_connection(("127.0.0.1", gateway.port), timeout=20)
            sockets.append(extra)
            self.assertEqual(extra.recv(1), b"")
            sockets.pop(0).close()
        finally:
            for each in sockets:
                each.close()
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                self.assertTrue(gateway.connect().call("health")["ok"])
                break
            except (Closed, OSError):
                pass
        self.assertGreaterEqual(gateway.metric("connections_refused_total"), 1)


if __name__ == "__main__":
    harness.main()
