"""A WebSocket client (RFC 6455) and the gateway protocol on it, out of the standard library."""

import base64
import collections
import hashlib
import itertools
import json
import os
import socket
import struct
import time

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Closed(Exception):
    """The other side ended the connection, with this close code (None: without a close frame)."""

    def __init__(self, code, reason=""):
        super().__init__(f"closed with {code}: {reason}")
        self.code = code
        self.reason = reason


class WebSocket:
    def __init__(self, port, path="/", headers=(), timeout=20):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()
        key = base64.b64encode(os.urandom(16))
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key.decode()}", "Sec-WebSocket-Version: 13", *headers]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer:
            self._fill()
        head, _, rest = bytes(self.buffer).partition(b"\r\n\r\n")
        self.buffer = bytearray(rest)
        self.status = int(head.split()[1])
        if self.status == 101:
            accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
            assert accept in head, head

    def _fill(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise Closed(None, "the connection ended")
        self.buffer += data

    def _take(self, size):
        while len(self.buffer) < size:
            self._fill()
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def send(self, data, opcode=TEXT, final=True):
        if isinstance(data, str):
            data = data.encode()
        mask = os.urandom(4)
        head = bytes([(0x80 if final else 0) | opcode])
        if len(data) < 126:
            head += bytes([0x80 | len(data)])
        elif len(data) < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", len(data))
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", len(data))
        pad = mask * (len(data) // 4 + 1)
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(pad[: len(data)], "big")).to_bytes(len(data), "big") if data else b""
        self.socket.sendall(head + mask + masked)

    def receive(self):
        """The next text message. Raises Closed."""
        message = b""
        while True:
            first, second = self._take(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack(">H", self._take(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self._take(8))
            data = self._take(size)
            opcode = first & 0x0F
            if opcode == CLOSE:
                code = struct.unpack(">H", data[:2])[0] if data else None
                try:
                    self.send(data[:2], CLOSE)
                except OSError:
                    pass
                raise Closed(code, data[2:].decode())
            if opcode == PING:
                self.send(data, PONG)
            elif opcode != PONG:
                message += data
                if first & 0x80:
                    return message.decode()

    def close(self):
        try:
            self.send(struct.pack(">H", 1000), CLOSE)
        except OSError:
            pass
        self.socket.close()


class Refused(Exception):
    """The gateway answered with an error."""

    def __init__(self, error):
        super().__init__(json.dumps(error))
        self.error = error
        self.code = error["code"]
        self.details = error.get("details") or {}


def connect_params(**changes):
    params = {
        "minProtocol": 4, "maxProtocol": 4,
        "client": {"id": "gateway-client", "displayName": "test", "version": "1.0.0", "platform": "linux", "mode": "backend"},
        "role": "operator", "scopes": ["operator.read", "operator.write", "operator.admin"], "caps": [],
    }
    params.update(changes)
    return params


def text_of(message):
    """What a message says: a user's content is a text, an assistant's is a list of parts."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


class Gateway:
    """One authenticated connection. Events are kept in `events` in the order in which they came, beside responses."""

    def __init__(self, port, timeout=20, **changes):
        self.socket = WebSocket(port, timeout=timeout)
        self.ids = itertools.count(1)
        self.frames = []  # everything, in order
        self.responses = collections.defaultdict(list)  # by id
        try:
            self.challenge = json.loads(self.socket.receive())
            self.hello = self.call("connect", connect_params(**changes))
        except Exception:
            self.socket.socket.close()
            raise

    def post(self, method, params=None, frame_id=None):
        frame_id = frame_id or f"r{next(self.ids)}"
        self.socket.send(json.dumps({"type": "req", "id": frame_id, "method": method, "params": {} if params is None else params}))
        return frame_id

    def read(self):
        frame = json.loads(self.socket.receive())
        self.frames.append(frame)
        if frame["type"] == "res":
            self.responses[frame["id"]].append(frame)
        return frame

    def response(self, frame_id, index=0):
        while len(self.responses[frame_id]) <= index:
            self.read()
        frame = self.responses[frame_id][index]
        if not frame["ok"]:
            raise Refused(frame["error"])
        return frame["payload"]

    def call(self, method, params=None):
        return self.response(self.post(method, params))

    def run(self, session, message="hello", key=None, **params):
        """A whole turn: the payloads of the first and the second response."""
        key = key or f"run-{os.urandom(8).hex()}"
        frame_id = self.post("agent", {"sessionKey": session, "message": message, "deliver": False, "idempotencyKey": key, **params})
        return self.response(frame_id, 0), self.response(frame_id, 1)

    def events(self, name=None):
        return [f for f in self.frames if f["type"] == "event" and name in (None, f["event"])]

    def until(self, wanted, limit=20):
        """Reads until a frame is as wanted, and returns it."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            frame = self.read()
            if wanted(frame):
                return frame
        raise AssertionError("it did not come")

    def close(self):
        self.socket.close()
