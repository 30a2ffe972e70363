#!/usr/bin/env python3
"""A driver of the import bench that runs nothing: it answers every row as docs/driver-protocol.md asks for, in made-up
times. `fake_import.py MODE [ROW]` misbehaves in one way, in every row or only in one.

MODE may be `plain` (as host Node: no phases, no counters), `guest` (phases, counters, an engine), or a misbehaviour of a guest
lane; see `changes` and `misbehave`.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "guest"
ONLY = sys.argv[2] if len(sys.argv) > 2 else ""
MARKER = "__AGENTOS_BENCH__:"
FOREVER = 1000
US = 1_000  # of nanoseconds: a request takes longer than any sample says
SCENARIOS = [
    "isolate-startup", "prewarmed-isolate-startup", "cold-local-import", "warm-local-import", "same-context-local-import",
    "prewarmed-local-import", "host-local-import", "builtin-import", "hot-builtin-stream-import",
    "hot-builtin-stream-web-import", "hot-builtin-crypto-import", "hot-builtin-zlib-import", "hot-builtin-assert-import",
    "hot-builtin-url-import", "hot-projected-package-file-import", "large-package-import", "projected-package-import",
    "pdf-lib-startup", "jszip-startup", "jszip-end-to-end", "jszip-repeated-session-compressed",
]
ROWS = ["transport_32", "transport_4096", "transport_65536", *SCENARIOS]
taken = 0  # samples of this process


def send(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def usage(cpu_us=2500):
    return {"rss_bytes": 50 << 20, "heap_used_bytes": 8 << 20, "cpu_user_us": cpu_us - 500, "cpu_system_us": 500, "cpu_total_us": cpu_us}


def marker(row, params, import_ms):
    if row.endswith("isolate-startup"):
        return MARKER + json.dumps({"resource_usage": usage()})
    return MARKER + json.dumps({"import_ms": import_ms, "resource_usage": usage()})


def scenario(row, params, mode):
    """Times in µs: 1 of context, 2 of startup, 4 of waiting, of which 3 (cold) or 1 (primed) are imports. Every further sample
    takes a hundredth longer."""
    global taken
    cached = params["cache"] == "primed"
    first = cached and not any(pathlib.Path(params["cacheDir"]).iterdir())
    if cached:
        (pathlib.Path(params["cacheDir"]) / "code").write_text("cached")
    slower = 1 + 0.01 * taken
    import_ms = 0.001 if cached else 0.003
    phases = {"context_setup": 1 * US * slower, "startup": 2 * US * slower, "wait": 4 * US * slower}
    ns = {"total": sum(phases.values()), **phases}
    counters = {"exitCode": 0, "cacheAccepted": 2 if cached and not first else 0, "cacheRejected": 0, "cacheMissed": 2,
                "pooled": 0 if params["reuse"] == "fresh-per-sample" else 1}
    if taken == 0:
        ns["engine_start"] = 30 * US
    if params.get("freshProcess"):
        ns["fresh_process"] = 40 * US
    if mode == "plain":
        ns = {"total": 20 * US * slower}
        counters = {"exitCode": 0}
    taken += 1
    line = marker(row, params, import_ms)
    sample = {"outcome": "ok", "ns": ns, "counters": counters, "output": f"a line\n{line}\n"}
    changes = {
        "no_marker": lambda: sample.update(output="a line\n"),
        "no_output": lambda: sample.pop("output"),
        "indented_marker": lambda: sample.update(output=f" {line}\n"),
        "malformed_marker": lambda: sample.update(output=f"{MARKER}{{\"import_ms\":\n"),
        "text_marker": lambda: sample.update(output=f"{MARKER}{{\"import_ms\":\"1\"}}\n"),
        "negative_marker": lambda: sample.update(output=f"{MARKER}-1\n"),
        "not_a_number_marker": lambda: sample.update(output=f"{MARKER}NaN\n"),
        "empty_marker": lambda: sample.update(output=f"{MARKER}{{}}\n"),
        "marker_without_import": lambda: sample.update(output=MARKER + json.dumps({"resource_usage": usage()}) + "\n"),
        "number_marker": lambda: sample.update(output=f"{MARKER}{import_ms}\n"),
        "long_marker": lambda: sample.update(output=f"{MARKER}5000\n"),
        "two_markers": lambda: sample.update(output=f"{MARKER}999999\n{line}\n"),
        "value_check": lambda: (counters.update(exitCode=1), sample.update(output="Error: local graph returned 276\n")),
        "by_signal": lambda: (counters.pop("exitCode"), counters.update(signal=9)),
        "no_exit": lambda: counters.pop("exitCode"),
        "phases_off": lambda: ns.update(total=ns["total"] * 1.2),
        "cache_unused": lambda: counters.update(cacheAccepted=0),
        "cache_used_cold": lambda: counters.update(cacheAccepted=1),
        "never_pooled": lambda: counters.update(pooled=0),
        "out_of_the_pool": lambda: counters.update(pooled=1),
        "failed_sample": lambda: sample.update(outcome="failed", error="the program could not be started"),
        "timeout_sample": lambda: sample.update(outcome="timeout", error="not done in time"),
        "negative": lambda: ns.update(total=-1),
        "missing_total": lambda: ns.pop("total"),
    }
    changes.get(mode, lambda: None)()
    return sample


def round_trips(params, count, mode):
    samples = []
    for k in range(count):
        head = f"transport:{params['nonce']}-{k}:"
        line = head + "x" * (params["bytes"] - len(head)) + "\n"
        sample = {"outcome": "ok", "ns": {"total": 0.05 * US}, "counters": {"exitCode": 0}, "output": line}
        if mode == "drops_newline":
            sample["output"] = line[:-1]
        elif mode == "wrong_echo":
            sample["output"] = line[:-2] + "y\n"
        elif mode == "late_echo":
            sample.update(outcome="timeout", error="no echo within 5 s", output="")
        elif mode == "early_exit":
            sample.update(counters={"exitCode": 3}, output="")
        samples.append(sample)
    return samples


def misbehave(mode, params):
    if mode == "late":
        time.sleep(FOREVER)
    elif mode == "late_with_child":
        subprocess.Popen(["sleep", str(FOREVER)])
        time.sleep(FOREVER)
    elif mode == "exit_3":
        print("the engine is broken", file=sys.stderr, flush=True)
        os._exit(3)
    elif mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif mode == "stray":
        subprocess.Popen(["sleep", str(FOREVER)], start_new_session=True)
    elif mode == "litters":
        for folder in ("bench", "cache", "."):
            nested = pathlib.Path(params["dir"]) / folder / "left" / "behind"
            nested.mkdir(parents=True, exist_ok=True)
            (nested / "file").write_text("x")


def hold(row):
    """With TARE_TEST_HOLD=ROW, stays in that row until the lab is gone; the test waits for the state of the rows before it."""
    if os.environ.get("TARE_TEST_HOLD") == row:
        sys.stdin.read()
        os._exit(0)


def sample(request):
    row, params, count = request["row"], request["params"], request["iterations"]
    mode = MODE if MODE in ("plain", "guest") or not ONLY or row == ONLY else "guest"
    log = os.environ.get("TARE_TEST_LOG")
    if log:
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps({"row": row, "iterations": count, "params": params}) + "\n")
    hold(row)
    misbehave(mode, params)
    if mode.startswith("says:"):
        raise OSError(mode.partition(":")[2])
    if row.startswith("transport_"):
        return round_trips(params, count, mode)
    return [scenario(row, params, mode) for _ in range(count)]


def answer(request):
    op = request["op"]
    if op == "hello":
        if request["protocol"] != "tare.driver.v1":
            raise KeyError("this protocol")
        rows = [row for row in ROWS if not (MODE == "lacks" and row == (ONLY or "jszip-startup"))]
        version = os.environ.get("TARE_TEST_VERSION", "1")
        return {"protocol": "tare.driver.v1", "name": "fake", "version": version, "engine": "none", "pid": os.getpid(),
                "rows": rows, "unavailable": {(ONLY or "jszip-startup"): "it has no zip"} if MODE == "lacks" else {}}
    if op == "sample":
        if request["row"] not in ROWS:
            raise KeyError(request["row"])
        return {"samples": sample(request)}
    if op == "bye":
        return {}
    raise KeyError(op)


def reply_to(line):
    try:
        request = json.loads(line)
        number = request["id"]
    except (ValueError, KeyError, TypeError):
        return {"id": None, "ok": False, "error": {"code": "invalid", "message": "no request"}}
    try:
        return {"id": number, "ok": True, **answer(request)}
    except KeyError as error:
        return {"id": number, "ok": False, "error": {"code": "unsupported", "message": f"there is no {error}"}}
    except OSError as error:
        return {"id": number, "ok": False, "error": {"code": "failed", "message": str(error)}}


def main():
    for line in sys.stdin:
        reply = reply_to(line)
        send(json.dumps(reply))
        if '"bye"' in line and reply["ok"]:
            return


if __name__ == "__main__":
    main()
