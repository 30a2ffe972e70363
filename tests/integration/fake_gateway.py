"""A gateway that does one thing wrong, for the tests of the bench: a thread for each connection, out of the standard library.
As a program it listens on a port that it is told: `fake_gateway.py PORT [FAULT]`."""

import base64
import hashlib
import json
import socketserver
import struct
import sys
import threading
import time

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
READY = {"ready": True, "failing": [], "uptimeMs": 1, "eventLoop": {"degraded": False, "delayP99Ms": 1.5, "delayMaxMs": 2.5,
                                                                  "utilization": 0.1, "cpuCoreRatio": 0.1}}


class Connection(socketserver.BaseRequestHandler):
    def handle(self):
        self.lock = threading.Lock()
        self.seq = 0
        self.runs = {}
        self.buffer = b""
        try:
            while self.serve_http():
                pass
        except (ConnectionError, OSError, EOFError):
            pass

    def fill(self):
        data = self.request.recv(1 << 16)
        if not data:
            raise EOFError
        self.buffer += data

    def take(self, size):
        while len(self.buffer) < size:
            self.fill()
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def serve_http(self):
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
        fields = {name.lower(): value for name, value in fields.items()}
        if b"sec-websocket-key" in fields:
            accept = base64.b64encode(hashlib.sha1(fields[b"sec-websocket-key"] + GUID).digest())
            self.request.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                 b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
            self.serve_frames()
            return False
        path = head.split()[1].decode()
        nth = self.count(path)
        body = json.dumps(READY).encode() if path == "/readyz" else b"<!doctype html><html></html>"
        status = b"200 OK"
        if path == "/readyz" and self.server.fault == "never-ready":
            status = b"503 Service Unavailable"
        if path == "/readyz" and self.server.fault == "settling" and nth == 4:
            body = body.replace(b'"degraded": false', b'"degraded": true')
        gone = self.server.fault == "no-page" and self.server.asked.get("agent")
        if path == "/" and (gone or self.server.fault == "settling" and nth == 1):
            body = b"hello"
        if path == "/" and self.server.fault == "mute-page":
            return True
        self.request.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body)
        return True

    def count(self, what):
        """How often it was asked for, this time included."""
        with self.server.counting:
            self.server.asked[what] = self.server.asked.get(what, 0) + 1
            return self.server.asked[what]

    def send(self, frame):
        data = json.dumps(frame).encode()
        size = len(data)
        head = b"\x81" + (bytes([size]) if size < 126 else b"\x7e" + struct.pack(">H", size) if size < 1 << 16 else
                          b"\x7f" + struct.pack(">Q", size))
        with self.lock:
            self.request.sendall(head + data)

    def event(self, name, payload):
        self.seq += 1
        self.send({"type": "event", "event": name, "payload": payload, "seq": self.seq})

    def respond(self, frame, payload, **more):
        self.send({"type": "res", "id": frame["id"], "ok": True, "payload": payload, **more})

    def refuse(self, frame, message, details):
        self.send({"type": "res", "id": frame["id"], "ok": False, "error": {"code": "INVALID_REQUEST", "message": message, "details": details}})

    def serve_frames(self):
        self.event("connect.challenge", {"nonce": "n", "ts": 0, "capabilities": []})
        while True:
            first, second = self.take(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack(">H", self.take(2))
            mask = self.take(4)
            data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(self.take(size)))
            if first & 0x0F == 8:
                return
            if first & 0x0F == 1:
                self.answer(json.loads(data))

    def answer(self, frame):
        fault, method, params = self.server.fault, frame["method"], frame["params"]
        nth = self.count(method)
        self.server.calls.append((method, params))
        if method == "connect":
            if fault == "protocol":
                return self.refuse(frame, "protocol mismatch", {"code": "PROTOCOL_MISMATCH", "expectedProtocol": 3})
            if fault == "token" and params.get("auth", {}).get("token") != "secret":
                return self.refuse(frame, "token missing", {"code": "AUTH_TOKEN_MISSING"})
            version = "9.9\x1b[31m" + "ü" * 100_000 if fault == "absurd" else "9.9"
            return self.respond(frame, {"type": "hello-ok", "protocol": 4, "server": {"version": version}})
        if method == "agent":
            return self.turn(frame, params)
        if method == "agent.wait":
            if fault == "lost-turn":
                return None
            if fault == "ballast":  # for two and a half seconds
                self.ballast = b"x" * (64 << 20)
                time.sleep(2.5)
                self.ballast = None
            key = params["runId"]
            self.respond(frame, {"runId": key, "status": "ok", "terminalReply": {"text": "hello"}})
            if fault != "no-second":
                self.respond(self.runs[key], {"runId": key, "status": "ok"})
            return None
        if fault == f"no {method}" or fault == f"half {method}" and nth % 2 == 0:
            return self.refuse(frame, "not now", {"code": "UNAVAILABLE"})
        if fault == f"slow {method}":
            time.sleep(2)
        if method == "sessions.list" and fault == "settling" and nth == 2:
            time.sleep(1.1)
        if method == "status" and fault == "absurd":
            sign = 1 if self.server.asked[method] % 2 else -1
            return self.respond(frame, {"connections": sign * (2**63 - 1), "tasks": {"running": sign * 2**63},
                                        "processMemory": {"rssBytes": -5, "heapUsedBytes": sign * 1e308}})
        if method == "sessions.list" and fault == "no-list" and self.server.asked.get("agent"):
            return None
        if method == "sessions.list" and fault == "slow-list" and self.server.asked.get("agent"):
            time.sleep(0.08)
        self.respond(frame, {"subscribed": True, "sessions": [], "messages": [], "tasks": [], "jobs": [], "enabled": False, "key": "k"})
        if method == "sessions.list" and fault == "twice":
            self.respond(frame, {"sessions": []})
        return None

    def turn(self, frame, params):
        key, session = params["idempotencyKey"], params["sessionKey"]
        self.runs[key] = frame
        self.respond(frame, {"runId": key, "sessionKey": session, "status": "accepted"})
        if self.server.fault == "foreign":
            self.event("chat", {"runId": "somebody", "sessionKey": session, "seq": 1, "state": "delta", "deltaText": "no"})
        self.event("chat", {"runId": key, "sessionKey": session, "seq": 1, "state": "delta", "deltaText": "hello"})
        if self.server.fault == "gap":
            self.seq += 3
        self.event("chat", {"runId": key, "sessionKey": session, "seq": 2, "state": "final",
                            "message": {"content": [{"type": "text", "text": "hello"}]}})


class FakeGateway(socketserver.ThreadingTCPServer):
    """Listens until it is closed, on a free port by default. Keeps what it was asked, in order."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, fault=None, port=0):
        super().__init__(("127.0.0.1", port), Connection)
        self.fault = fault
        self.counting = threading.Lock()
        self.asked = {}
        self.calls = []
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"ws://127.0.0.1:{self.server_address[1]}"

    def close(self):
        self.shutdown()
        self.server_close()


if __name__ == "__main__":
    FakeGateway(sys.argv[2] if len(sys.argv) > 2 else None, int(sys.argv[1]))
    print("startup trace: sidecars.ready 1ms", flush=True)
    threading.Event().wait()
