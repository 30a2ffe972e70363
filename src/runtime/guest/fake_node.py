#!/usr/bin/python3
"""A stand-in for Node with the guest engine: speaks the frames, and does what the arguments of a spawn say.

As a tool it makes the pack and the snapshot, as engine.js would. A guest is argv ["node", VERB, ARGUMENT]: see
Guest.run. The file `mode` beside engine.js changes how the whole behaves.
"""

import array
import json
import os
import pathlib
import re
import signal
import socket
import struct
import sys
import threading

CREATE_VM, DISPOSE_VM, SPAWN, KILL, STATS, WRITE_FILE, CREATE_CONTEXT, STAGES = range(1, 9)
MODE = ""
READY, STARTED, EXITED, LOG, REPLY, PROFILE = range(64, 70)


class Engine:
    def __init__(self, control, config):
        self.control = control
        self.trace = config.get("trace") is True
        self.pool = config.get("pool") or 0
        self.lock = threading.Lock()
        self.guests = {}
        self.files = {}
        self.mounts = {}
        self.contexts = {}
        self.spawned = 0

    def send(self, kind, number, payload, content=None):
        body = json.dumps(payload).encode() + (b"" if content is None else b"\n" + content)
        with self.lock:
            self.control.sendall(struct.pack("<IBI", 5 + len(body), kind, number) + body)

    def serve(self):
        self.send(LOG, 0, {"level": "info", "text": "here I am"})
        self.send(READY, 0, {"pid": os.getpid(), "v8": "13.6", "node": "24.22.3", "isolation": {"seccomp": True},
                             "trace": self.trace})
        buffer, descriptors = b"", []
        while True:
            while len(buffer) >= 4 and len(buffer) >= 4 + struct.unpack_from("<I", buffer)[0]:
                length, kind, number = struct.unpack_from("<IBI", buffer)
                payload, buffer = buffer[9 : 4 + length], buffer[4 + length :]
                self.handle(kind, number, payload, descriptors)
            data, ancillary, _, _ = self.control.recvmsg(65536, socket.CMSG_SPACE(16))
            for level, what, content in ancillary:
                if (level, what) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    descriptors += array.array("i", content)
            if not data:
                os._exit(0)
            buffer += data

    def handle(self, kind, number, payload, descriptors):
        if kind == SPAWN:
            message = json.loads(payload)
            stdio = socket.socket(fileno=descriptors.pop(0)) if message["stdio"] == "pipe" else None
            self.spawned += 1
            self.guests[number] = guest = Guest(self, number, message, stdio)
            guest.start()
        elif kind == KILL:
            if number in self.guests:
                self.guests[number].kill(json.loads(payload)["signal"])
        elif kind == WRITE_FILE:
            line, _, content = payload.partition(b"\n")
            self.files[json.loads(line)["path"]] = content
            refused = json.loads(line)["path"].startswith("/dev")
            self.send(REPLY, number, {"error": "EACCES: permission denied"} if refused else {})
        elif kind == STATS:
            self.send(REPLY, number, {"counters": {"spawned": self.spawned, "liveGuests": len(self.guests)}})
        elif kind == STAGES:
            self.send(REPLY, number, {"stages": {"stages": self.stages(), "absent": {"js_event_turn": "no loop"}}})
        elif kind == CREATE_CONTEXT:
            self.contexts[number] = json.loads(payload)
            self.send(REPLY, number, {"error": "no room"} if MODE == "no contexts" else {})
        elif kind == DISPOSE_VM:
            live = [guest for guest in list(self.guests.values()) if not guest.signal]
            for guest in live:
                guest.kill("SIGKILL")
            self.send(REPLY, number, {"killed": len(live)})
        elif kind == CREATE_VM:
            self.mounts = {mount["guest"]: mount["host"] for mount in json.loads(payload)["mounts"]}
            self.send(REPLY, number, {})


    def stages(self):
        return {"execute_total": {"calls": self.spawned, "totalUs": 10.5 * self.spawned, "maxUs": 12}}


class Guest(threading.Thread):
    def __init__(self, engine, number, message, stdio):
        super().__init__(daemon=True)
        self.engine, self.number, self.message, self.stdio = engine, number, message, stdio
        self.killed = threading.Event()
        self.signal = None

    def kill(self, name):
        self.signal = name
        self.killed.set()
        if self.stdio:
            try:
                self.stdio.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has just ended

    def write(self, stream, data):
        if self.stdio:
            self.stdio.sendall(struct.pack("<BI", stream, len(data)) + data)

    def read_all(self):
        data = b""
        while piece := self.stdio.recv(65536):
            data += piece
        return data

    def run(self):
        if MODE == "slow":
            self.killed.wait()
        how = {"code": None, "signal": None, "reason": None, "sync": "skipped", "filesLost": 0, "syncProblems": [],
               "cpuNs": 1000}
        _, verb, argument = (self.message["argv"] + ["", ""])[:3]
        if verb != "refuse":
            self.engine.send(STARTED, self.number, {"pid": self.number + 1})
        try:
            how.update(self.act(verb, argument))
        except OSError:
            pass
        if self.signal:
            how.update(code=None, signal=self.signal)
        if self.stdio:
            self.stdio.close()
        for kind in self.message.get("profiles") or []:
            self.profile(kind, argument)
        self.engine.send(EXITED, self.number, how)
        self.engine.guests.pop(self.number, None)

    def profile(self, kind, argument):
        """In two parts; or as the argument of the guest says."""
        if argument == "no profile":
            self.engine.send(PROFILE, self.number, {"kind": kind, "last": True, "error": "V8 has none"}, b"")
        elif argument != "half a profile":
            self.engine.send(PROFILE, self.number, {"kind": kind, "last": False}, b'{"nodes":')
            self.engine.send(PROFILE, self.number, {"kind": kind, "last": True}, b"[]}")
        else:
            self.engine.send(PROFILE, self.number, {"kind": kind, "last": False}, b'{"nodes":')

    def act(self, verb, argument):
        if verb == "-e":
            return self.evaluate(argument)
        if verb.startswith("bench/"):
            return self.load(verb)
        if verb == "exit":
            return {"code": int(argument)}
        if verb == "refuse":
            return {"reason": "refused", "detail": "EAGAIN: too many processes"}
        if verb == "limit":
            return {"signal": "SIGKILL", "reason": argument}
        if verb == "write":
            for _ in range(int(argument) // 65536):
                self.write(1, b"x" * 65536)
            self.write(2, b"done")
        if verb == "both":
            for i in range(3):
                self.write(1, b"out%d" % i)
                self.write(2, b"err%d\xff\0" % i)
        if verb == "echo":
            self.write(1, self.read_all())
        if verb == "cat":
            self.write(1, self.engine.files[argument])
        if verb == "stay":
            self.write(1, b"here")
            self.killed.wait()
        if verb == "garbage":
            with self.engine.lock:
                self.engine.control.sendall(b"\xff" * 64)
            self.killed.wait()
        if verb == "die":
            print("out of luck", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        if verb == "stuck":
            self.engine.handle = lambda *_: threading.Event().wait()
        return {"code": 0}


    def load(self, program):
        """The programs of the import rows, and others that fail in their place."""
        if "transport" not in program:
            self.write(1, f"loaded {program}\n".encode())
            folder = self.engine.contexts[self.message["context"]].get("compileCacheDir")
            found = sum(path.is_file() for path in pathlib.Path(folder).rglob("*")) if folder else 0
            return {"code": 3 if "fails" in program else 0, "pooled": self.engine.pool > 0,
                    "codeCache": {"accepted": found, "rejected": 0, "missed": 3 - found, "graphs": 0}}
        if "mute" in program:
            self.killed.wait()
        for line in self.stdio.makefile("rb"):
            if "early" in program and b"-1:" in line:
                return {"code": 5}
            self.write(1, line.upper() if "wrong" in program else line)
        return {"code": 7 if "unclean" in program else 0}

    def evaluate(self, script):
        """The scripts of the spawn rows, as far as they can be told by their look."""
        if match := re.fullmatch(r"process\.exit\((\d+)\)", script):
            return {"code": int(match[1])}
        if script.startswith("process.kill"):
            return {"signal": "SIGKILL"}
        if match := re.fullmatch(r'.*writeFileSync\((".*"), (".*")\)', script):
            folder = pathlib.Path(self.engine.mounts[self.message["cwd"]])
            (folder / json.loads(match[1])).write_text(json.loads(match[2]))
            return {"code": 0, "sync": 1}
        if match := re.search(r'"(.+)"\.repeat\(\d+\)\.slice\(0, (\d+)\)', script):
            size = int(match[2])
            self.write(1, (match[1] * size)[:size].encode())
        elif script.startswith("process.stdin.pipe"):
            self.write(1, self.read_all())
        elif "setInterval" in script:
            self.write(1, b"up\n")
            self.killed.wait()
        elif "const fanout" in script:
            seen = {"expectedChildren": 8, "exitCallbacks": 8, "closeCallbacks": 8, "errorCallbacks": 0,
                    "nonZeroExitCodes": 0, "nonZeroCloseCodes": 0}
            self.write(1, b"__BENCH098__" + json.dumps(seen).encode() + b"\n")
        return {"code": 0}


def main():
    if "--expose-internals" in sys.argv:
        pathlib.Path(sys.argv[-1]).write_text("pack")
        return
    config = json.loads(sys.argv[-1])
    global MODE
    MODE = mode = pathlib.Path(sys.argv[-2]).with_name("mode").read_text().strip()
    if config.get("build"):
        if mode == "build fails":
            sys.exit("no such builtin module: frobnicate")
        pathlib.Path(config["snapshot"]).write_text("snapshot")
        return
    if pathlib.Path(config["snapshot"]).read_text() != "snapshot":
        sys.exit("the snapshot is damaged")
    if mode == "start fails":
        sys.exit("cannot find the addon")
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    Engine(socket.socket(fileno=3), config).serve()


main()
