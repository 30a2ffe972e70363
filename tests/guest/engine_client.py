"""A guest engine of the build, spoken to in its own protocol: frames on descriptor 3, a socket for each execution."""

import array
import functools
import json
import os
import pathlib
import select
import socket
import struct
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TARE_BUILD", ROOT / "build"))
TARE = BUILD / "bin" / "tare"
LIB = pathlib.Path(os.environ.get("TARE_GUEST_LIB", BUILD / "lib" / "tare" / "guest"))
NODE = pathlib.Path.home() / ".cache/tare/node/node_modules" / f"node-linux-{'arm64' if os.uname().machine == 'aarch64' else 'x64'}" / "bin/node"
FLAGS = ["--no-turboshaft-loop-unrolling", "--no-warnings"]

CREATE_VM, DISPOSE_VM, SPAWN, KILL, STATS, WRITE_FILE, STAGES = 1, 2, 3, 4, 5, 6, 8
READY, STARTED, EXITED, LOG, REPLY, PROFILE = 64, 65, 66, 67, 68, 69

LONG = 60  # seconds: when something never came


class EngineGone(Exception):
    pass


def available():
    return NODE.exists() and (LIB / "tare_guest.node").exists()


@functools.lru_cache(maxsize=1)
def prepared():
    """The folder of the library and the snapshot, which lives as long as this program."""
    folder = tempfile.TemporaryDirectory(prefix="tare-guest-test-")
    pack, snapshot = (str(pathlib.Path(folder.name) / name) for name in ("pack", "snapshot.blob"))
    subprocess.run([NODE, "--expose-internals", LIB / "compat/extract.cjs", pack], check=True, timeout=LONG)
    config = json.dumps({"build": True, "pack": pack, "snapshot": snapshot})
    subprocess.run([NODE, *FLAGS, LIB / "engine.js", config], check=True, timeout=LONG)
    return folder, pack, snapshot


class Result:
    def __init__(self, stdout, stderr, exited):
        self.stdout, self.stderr, self.exited = stdout, stderr, exited
        self.code, self.signal = exited.get("code"), exited.get("signal")
        self.reason, self.detail = exited.get("reason"), exited.get("detail")

    def __repr__(self):
        return f"{self.exited} stdout {self.stdout[-2000:]!r} stderr {self.stderr[-2000:]!r}"


class Engine:
    def __init__(self, pool=2, stderr=None, **config):
        _, pack, snapshot = prepared()
        ours, theirs = socket.socketpair()
        # The descriptor must be 3 in the child, whatever it is here.
        shell = f'exec "$0" "$@" 3<&{theirs.fileno()} {theirs.fileno()}<&-' if theirs.fileno() != 3 else 'exec "$0" "$@"'
        text = json.dumps({"pack": pack, "snapshot": snapshot, "pool": pool, **config})
        self.process = subprocess.Popen(["/bin/bash", "-c", shell, NODE, *FLAGS, LIB / "engine.js", text], stdin=subprocess.DEVNULL,
                                        stderr=stderr, pass_fds=(theirs.fileno(),))
        theirs.close()
        self.socket, self.buffer, self.last_id = ours, b"", 0
        self.replies, self.exits, self.starts, self.logs = {}, {}, {}, []
        self.profiles = {}  # by execution: by kind, the text, or None where there is none
        self.executions = []
        self.ready = None
        self.until(lambda: self.ready is not None)
        self.pid = self.ready["pid"]

    # Frames

    def send_bytes(self, data, descriptors=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        sent = self.socket.sendmsg([data], rights)
        self.socket.sendall(data[sent:])

    def send(self, kind, number, payload, descriptors=()):
        if not isinstance(payload, bytes):
            payload = json.dumps(payload).encode()
        self.send_bytes(struct.pack("<IBI", 5 + len(payload), kind, number) + payload, descriptors)

    def next_id(self):
        self.last_id += 1
        return self.last_id

    def pump(self, seconds):
        """Reads what the engine says, if it says something in that time."""
        if not select.select([self.socket], [], [], max(seconds, 0))[0]:
            return
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            raise EngineGone(f"the engine ended with {self.process.wait(LONG)}")
        self.buffer += data
        while len(self.buffer) >= 9:
            size, kind, number = struct.unpack("<IBI", self.buffer[:9])
            if len(self.buffer) < 4 + size:
                return
            payload, self.buffer = self.buffer[9:4 + size], self.buffer[4 + size:]
            if kind == PROFILE:
                self.add_profile(number, *payload.split(b"\n", 1))
                continue
            payload = json.loads(payload)
            if kind == READY:
                self.ready = payload
            elif kind == LOG:
                self.logs.append(payload)
            else:
                {STARTED: self.starts, EXITED: self.exits, REPLY: self.replies}[kind][number] = payload

    def add_profile(self, number, line, content):
        part = json.loads(line)
        kinds = self.profiles.setdefault(number, {})
        kinds[part["kind"]] = None if part["error"] else kinds.get(part["kind"], b"") + content

    def until(self, condition, seconds=LONG):
        deadline = time.monotonic() + seconds
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("what the engine should say did not come")
            self.pump(left)

    def request(self, kind, number, payload):
        self.replies.pop(number, None)
        self.send(kind, number, payload)
        self.until(lambda: number in self.replies)
        return self.replies.pop(number)

    # Requests

    def vm(self, limits=None, mounts=(), **permissions):
        number = self.next_id()
        allowed = {"fs": "allow", "network": "deny", "childProcess": "allow", "env": "allow", **permissions}
        reply = self.request(CREATE_VM, number, {"permissions": allowed, "limits": limits or {}, "cwd": "/root", "mounts": list(mounts),
                                                 "env": {"PATH": "/usr/bin:/bin", "HOME": "/root"}})
        if reply.get("error"):
            raise RuntimeError(reply["error"])
        return number

    def dispose(self, vm):
        return self.request(DISPOSE_VM, vm, {})

    def write_file(self, vm, path, content):
        reply = self.request(WRITE_FILE, vm, json.dumps({"path": path, "mode": 0o644}).encode() + b"\n" + content.encode())
        if reply.get("error"):
            raise RuntimeError(reply["error"])

    def stats(self):
        return self.request(STATS, self.next_id(), {})["counters"]

    def kill(self, number, signal="SIGKILL"):
        self.send(KILL, number, {"signal": signal})

    def spawn(self, vm, argv, **options):
        """Starts a program with pipes."""
        self.executions.append(Execution(self, vm, argv, options))
        return self.executions[-1]

    def run(self, vm, code, *arguments, stdin=b"", seconds=LONG, **options):
        """Runs a script to its end."""
        execution = self.spawn(vm, ["node", "-e", code, *arguments], **options)
        execution.write(stdin)
        execution.close_stdin()
        return execution.wait(seconds)

    def quick(self, vm, argv, **options):
        """Starts a program without pipes; its number."""
        number = self.next_id()
        self.send(SPAWN, number, {"vm": vm, "argv": argv, "stdio": "ignore", **options})
        return number

    def wait_exit(self, number, seconds=LONG):
        self.until(lambda: number in self.exits, seconds)
        return self.exits.pop(number)

    # What it holds

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def resident_bytes(self):
        with open(f"/proc/{self.pid}/smaps_rollup", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) << 10

    def drop(self):
        """Hangs up everywhere."""
        self.socket.close()
        for execution in self.executions:
            execution.drop()

    def close(self, seconds=LONG):
        self.drop()
        return self.process.wait(seconds)


class Execution:
    def __init__(self, engine, vm, argv, options):
        self.engine, self.id = engine, engine.next_id()
        self.socket, theirs = socket.socketpair()
        with theirs:
            engine.send(SPAWN, self.id, {"vm": vm, "argv": argv, "stdio": "pipe", **options}, [theirs.fileno()])
        self.raw, self.open = b"", True
        self.streams = {1: bytearray(), 2: bytearray()}

    def write(self, data):
        """Of as much as a socket holds."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def close_stdin(self):
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def kill(self, signal="SIGKILL"):
        self.engine.kill(self.id, signal)

    def take(self):
        """Reads what there is, once."""
        try:
            data = self.socket.recv(1 << 20)
        except ConnectionResetError:
            data = b""
        self.open = bool(data)
        self.raw += data
        while len(self.raw) >= 5:
            stream, size = struct.unpack("<BI", self.raw[:5])
            if len(self.raw) < 5 + size:
                break
            self.streams[stream] += self.raw[5:5 + size]
            self.raw = self.raw[5 + size:]

    def until(self, condition, seconds=LONG):
        deadline = time.monotonic() + seconds
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"the guest did not get there: {self.streams}")
            wanted = [self.engine.socket] + ([self.socket] if self.open else [])
            ready = select.select(wanted, [], [], left)[0]
            if self.socket in ready:
                self.take()
            if self.engine.socket in ready:
                self.engine.pump(0)

    def read_until(self, text, seconds=LONG):
        self.until(lambda: text in self.streams[1] or not self.open, seconds)
        if text not in self.streams[1]:
            raise AssertionError(f"{text!r} never came: {self.wait()}")

    def started(self, seconds=LONG):
        self.until(lambda: self.id in self.engine.starts, seconds)
        return self.engine.starts[self.id]["pid"]

    def wait(self, seconds=LONG):
        """All that it says, and how it ends."""
        self.until(lambda: not self.open and self.id in self.engine.exits, seconds)
        self.socket.close()
        self.engine.executions.remove(self)
        self.engine.starts.pop(self.id, None)
        return Result(bytes(self.streams[1]), bytes(self.streams[2]), self.engine.exits.pop(self.id))

    def drop(self):
        """Hangs up."""
        self.open = False
        self.socket.close()
