#!/usr/bin/env python3
"""A driver in Python, with the subprocess module: docs/driver-protocol.md, row by row.

It starts the `node` of PATH (or the one that $TARE_NODE names); the rows that need no node are offered without.
"""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
import time

PROTOCOL = "tare.driver.v1"
LINE_LIMIT = 16 * 1024 * 1024
NODE = os.environ.get("TARE_NODE") or shutil.which("node")

FLOOR_ROWS = ["spawn_exit", "exec_true"]
NODE_ROWS = [
    "node_exit_1",
    "fanout_<n>",
    "capture_2b",
    "capture_256k",
    "stdin_roundtrip_4k",
    "exit_code_7",
    "signal_kill",
    "root_cwd_no_write",
    "host_cwd_no_write",
    "host_cwd_write_1file",
    "reap_storm_32",
]
EXIT = "process.exit(0)"


class Refusal(Exception):
    """An answer of the kind {"ok": false}."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def param(params, name, kind):
    value = params.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Refusal("invalid", f"params.{name} must be a {kind.__name__}, got {value!r}")
    return value


def kill_group(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Operation:
    """Starts `count` processes, waits for each, kills what is late; keeps the three moments."""

    def __init__(self, argv, params, count=1, cwd=None, input_text=None, capture=False):
        self.timeout = param(params, "timeoutMs", int) / 1000
        self.outcome, self.error, self.output = "ok", None, None
        self.codes, self.children = [], []
        piped = capture or input_text is not None
        stdin = subprocess.PIPE if input_text is not None else subprocess.DEVNULL
        stdout = subprocess.PIPE if piped else subprocess.DEVNULL
        # A thread that kills, because Popen.wait(timeout) polls in steps of up to 50 ms.
        watchdog = threading.Timer(self.timeout, self.expire)
        watchdog.start()
        self.start = time.perf_counter_ns()
        try:
            for _ in range(count):
                self.children.append(
                    subprocess.Popen(argv, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, cwd=cwd,
                                     process_group=0))
        except OSError as error:
            refused = isinstance(error, BlockingIOError)
            self.fail("refused" if refused else "failed", f"cannot start {argv[0]}: {error}")
        self.spawned = time.perf_counter_ns()
        for child in self.children:
            if piped:
                data = None if input_text is None else input_text.encode()
                self.output = child.communicate(data)[0].decode("utf-8", "replace")
            self.codes.append(child.wait())
        self.end = time.perf_counter_ns()
        watchdog.cancel()
        watchdog.join()

    def expire(self):
        self.fail("timeout", f"not done after {self.timeout * 1000:.0f} ms")

    def fail(self, outcome, error):
        if self.outcome == "ok":
            self.outcome, self.error = outcome, error
        for child in self.children:
            if child.returncode is None:
                kill_group(child)

    def sample(self, phases, counters):
        ns = {"total": self.end - self.start}
        if phases:
            ns[phases[0]] = self.spawned - self.start
            ns[phases[1]] = self.end - self.spawned
        result = {"ns": ns, "outcome": self.outcome, "counters": counters}
        if self.error is not None:
            result["error"] = self.error
        if self.output is not None:
            result["output"] = self.output
        return result

    def one(self, phases=()):
        code = self.codes[0] if self.codes else None
        if code is None:
            return self.sample(phases, {})
        return self.sample(phases, {"signal": -code} if code < 0 else {"exitCode": code})

    def batch(self, phases=()):
        return self.sample(phases, {"exits": len(self.codes), "nonZero": sum(code != 0 for code in self.codes)})


def own_facts():
    """Open descriptors and threads of this process, and children that nobody waited for."""
    fds = len(os.listdir("/proc/self/fd"))
    threads = len(os.listdir("/proc/self/task"))
    zombies = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue  # it left while we looked
        zombies += state == "Z" and int(parent) == os.getpid()
    return fds, threads, zombies


def settle_threads(most):
    """join() returns a moment before the kernel is done with a thread."""
    end = time.monotonic() + 5
    while len(os.listdir("/proc/self/task")) > most and time.monotonic() < end:
        time.sleep(0.001)


def reap_storm(params):
    fds_before, threads_before, _ = own_facts()
    result = Operation(node(EXIT), params, count=param(params, "fanout", int)).batch()
    settle_threads(threads_before)
    fds_after, threads_after, zombies = own_facts()
    result["counters"].update(zombies=zombies, fdsBefore=fds_before, fdsAfter=fds_after,
                              threadsBefore=threads_before, threadsAfter=threads_after)
    return result


def node(script):
    return [NODE, "-e", script]


def capture(params):
    nonce, size = param(params, "nonce", str), param(params, "bytes", int)
    return node(f"process.stdout.write({json.dumps(nonce)}.repeat({size // len(nonce)}))")


def write_file(params):
    file, content = json.dumps(param(params, "file", str)), json.dumps(param(params, "content", str))
    return node(f'require("node:fs").writeFileSync({file}, {content})')


SINGLE = ("spawn", "wait_reap")
BATCH = ("spawn_batch", "wait_reap_batch")
ROWS = {
    "spawn_exit": lambda p: Operation(["sh", "-c", "exit 0"], p).one(SINGLE),
    "exec_true": lambda p: Operation(["/bin/true"], p).one(SINGLE),
    "node_exit_1": lambda p: Operation(node(EXIT), p).one(SINGLE),
    "capture_2b": lambda p: Operation(capture(p), p, capture=True).one(),
    "capture_256k": lambda p: Operation(capture(p), p, capture=True).one(),
    "stdin_roundtrip_4k":
        lambda p: Operation(node("process.stdin.pipe(process.stdout)"), p, input_text=param(p, "input", str)).one(),
    "exit_code_7": lambda p: Operation(node("process.exit(7)"), p).one(),
    "signal_kill": lambda p: Operation(node("process.kill(process.pid, 'SIGKILL')"), p).one(),
    "root_cwd_no_write": lambda p: Operation(node(EXIT), p, cwd="/").one(),
    "host_cwd_no_write": lambda p: Operation(node(EXIT), p, cwd=param(p, "dir", str)).one(),
    "host_cwd_write_1file": lambda p: Operation(write_file(p), p, cwd=param(p, "dir", str)).one(),
    "reap_storm_32": reap_storm,
}


def offered():
    return FLOOR_ROWS + (NODE_ROWS if NODE else [])


def take_sample(row, params):
    number = row[len("fanout_"):] if row.startswith("fanout_") else None
    if number is not None and number.isdigit() and NODE:
        return Operation(node(EXIT), params, count=param(params, "fanout", int)).batch(BATCH)
    if row not in ROWS or row not in offered():
        raise Refusal("unsupported", f"no row {row!r}")
    return ROWS[row](params)


def hello(request):
    if request.get("protocol") != PROTOCOL:
        raise Refusal("unsupported", f"this driver speaks {PROTOCOL}")
    unavailable = {"nested_8": "the processes of this driver start no others"}
    if not NODE:
        unavailable.update({row: "no node on PATH" for row in NODE_ROWS})
    return {
        "protocol": PROTOCOL,
        "name": "python",
        "version": platform.python_version(),
        "engine": f"{platform.python_implementation().lower()} {platform.python_version()}",
        "pid": os.getpid(),
        "rows": offered(),
        "unavailable": unavailable,
        "asynchronousSpawn": False,
    }


def sample(request):
    row, params = param(request, "row", str), param(request, "params", dict)
    return {"samples": [take_sample(row, params) for _ in range(param(request, "iterations", int))]}


OPS = {"hello": hello, "sample": sample, "bye": lambda request: {}}


def answer(line):
    """The reply to one line, and whether it was the last."""
    number = None
    try:
        if len(line) > LINE_LIMIT:
            raise Refusal("invalid", "a line is longer than 16 MiB")
        try:
            request = json.loads(line)
        except ValueError as error:
            raise Refusal("invalid", f"not JSON: {error}") from error
        if not isinstance(request, dict):
            raise Refusal("invalid", "not a JSON object")
        number, op = request.get("id"), request.get("op")
        if op not in OPS:
            raise Refusal("unsupported", f"no op {op!r}")
        return {"id": number, "ok": True, **OPS[op](request)}, op == "bye"
    except Refusal as error:
        return {"id": number, "ok": False, "error": {"code": error.code, "message": str(error)}}, False
    except Exception as error:  # a driver answers, whatever happens
        return {"id": number, "ok": False, "error": {"code": "failed", "message": repr(error)}}, False


def main():
    for line in sys.stdin.buffer:
        reply, last = answer(line)
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
        if last:
            break


if __name__ == "__main__":
    main()
