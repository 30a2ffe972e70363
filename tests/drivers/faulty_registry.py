#!/usr/bin/env python3
"""A registry of agent runs that breaks one rule of docs/driver-protocol.md: faulty_registry.py MODE.

Mode `good` breaks none. It keeps no registry at all: what it counts is made up, so that tests of the lab are
fast. Only the runs of durableCrash are really there, in a file.
"""

import json
import os
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
SCENARIOS = ["spawnPipelineInMemory", "spawnPipelineDurable", "admission", "recoverySweep", "duplicateSuppression",
             "spawnSettleEndToEnd", "mixedLoad", "durableCrash", "sweepScale", "dedupeScale", "restartScale"]
DURABLE = {"spawnPipelineDurable", "spawnSettleEndToEnd", "mixedLoad", "durableCrash", "restartScale"}
TORN_DOWN = {name: 0 for name in ("postTeardownRegistryRows", "postTeardownTaskRows", "postTeardownDurableSubagentRows",
                                  "postTeardownDurableTaskRows", "postTeardownActiveRootWork")}
MEMORY = {"rssStartBytes": 1 << 20, "rssEndBytes": 1 << 20, "processMaxRssBytes": 1 << 21}


class Refused(Exception):
    """Becomes an error `failed`."""


class Invalid(Exception):
    """Becomes an error `invalid`."""


def pipeline(n, durable):
    same = {name: n for name in ("registeredRuns", "uniqueRunIds", "reservationsReleased", "blockedWaits", "settledRuns",
                                 "settledTasks")}
    rows = n if durable else 0
    return {**same, "outstandingWaits": 0, "durableSubagentRows": rows, "durableTaskRows": rows,
            "durableStateFile": int(durable), **TORN_DOWN}


def sweep(n):
    return {"seededRows": 3 * n, "removedRows": 2 * n, "retainedCurrent": n, "sessionEffects": 0, "recoveryProjections": n,
            "lostContextCompletions": 0, "repeatedProjections": 0}


def dedupe(n):
    return {"inputRowsPerOrdering": 3 * n, "newestFirstSelectedRows": n, "oldestFirstSelectedRows": n,
            "newestFirstSelectedNewest": n, "oldestFirstSelectedNewest": n}


def counters_of(scenario, n):
    return {
        "spawnPipelineInMemory": lambda: pipeline(n, False),
        "spawnPipelineDurable": lambda: pipeline(n, True),
        "admission": lambda: {"admissionCap": n, "overflowRejected": 1, "released": n, "doubleReleaseHarmless": 1,
                              "slotReused": 1},
        "recoverySweep": lambda: sweep(n),
        "duplicateSuppression": lambda: dedupe(n),
        "spawnSettleEndToEnd": lambda: {"registeredRuns": n, "waitersNotified": n, "settledRuns": n, "settledTasks": n,
                                        "outstandingWaits": 0, "durableEndedRows": n, **TORN_DOWN},
        "mixedLoad": lambda: {"cycles": 5, "spawns": 5, "waits": 5, "settles": 5, "sweeps": 1, "outstandingWaits": 0,
                              "lostRuns": 0, **TORN_DOWN},
        "sweepScale": lambda: sweep(n // 3),
        "dedupeScale": lambda: dedupe(n // 3),
        "restartScale": lambda: {"restoredRuns": n, "interruptedRuns": n},
    }[scenario]()


def register(params):
    """Writes down what it would keep, one run a line."""
    with open(os.path.join(params["dir"], "runs"), "w", encoding="ascii") as runs, \
            open(params["acks"], "w", encoding="ascii") as acks:
        for k in range(params["size"]):
            label = f"{params['nonce']}-{k}"
            if not (MODE == "loses_a_run" and k == 3):
                print(label, "interrupted", chr(ord("a") + k % 26) * 100, file=runs)
            if not (MODE == "owes_an_acknowledgement" and k == 3):
                acks.write(label + "\n")
                acks.flush()
    return {"registeredRuns": params["size"]}, None


def recover(params):
    path = os.path.join(params["dir"], "runs")
    with open(path, encoding="ascii") as runs:
        output = runs.read()
    os.remove(path)
    lines = output.splitlines()
    return {"restoredRuns": len(lines), "interruptedRuns": sum(" interrupted " in line for line in lines)}, output


def check_folder(params):
    """Whether it can be used. Between the phases of durableCrash it is not empty."""
    if MODE != "ignores_the_folder" and not os.path.isdir(params["dir"]):
        raise Refused(f"{params['dir']} is not a folder")
    names = os.listdir(params["dir"]) if os.path.isdir(params["dir"]) else []
    if MODE != "takes_any_folder" and params.get("phase") != "recover" and names:
        raise Refused(f"{params['dir']} is not empty: it holds {names[0]}")


def late_sample(params):
    """What a mix that is longer than its budget comes to."""
    age = 1 if MODE == "is_late_too_soon" else params["timeoutMs"] * 1_000_000
    if MODE != "is_late_too_soon":
        time.sleep(params["timeoutMs"] / 1000)
    return {"ns": {"total": age}, "outcome": "timeout", "error": "too late", "counters": {}, "bytes": MEMORY}


def sample_of(scenario, size, params):
    if MODE != "takes_any_size" and params["size"] != size:
        raise Invalid(f"the size is {params['size']}, that of the row {size}")
    if scenario in DURABLE:
        check_folder(params)
    if scenario == "mixedLoad" and MODE != "takes_its_time" and params["durationMs"] > params["timeoutMs"]:
        return late_sample(params)
    output = None
    if scenario == "durableCrash":
        counters, output = (register if params["phase"] == "register" else recover)(params)
    else:
        counters = counters_of(scenario, params["size"])
    if MODE == "leaves_a_file" and scenario == "spawnPipelineDurable" and os.path.isdir(params["dir"]):
        open(os.path.join(params["dir"], "registry.db"), "w", encoding="ascii").close()
    if MODE == "miscounts" and scenario == "admission":
        counters["released"] -= 1
    bytes_ = dict(MEMORY)
    if MODE == "hides_its_memory" and scenario == "recoverySweep":
        del bytes_["rssEndBytes"]
    ns = {"total": 1200, "spawn": 1000, "settle": 200} if scenario == "spawnSettleEndToEnd" else {"total": 1200}
    return {"ns": ns, "outcome": "ok", "counters": counters, "bytes": bytes_, "output": output}


def answer(request):
    op = request.get("op")
    if op == "hello" and request.get("protocol") == "tare.driver.v1":
        return {"ok": True, "protocol": "tare.driver.v1", "name": "faulty", "version": "1", "engine": "none", "pid": os.getpid(),
                "rows": [f"{scenario}_<n>" for scenario in SCENARIOS]}
    scenario, _, size = request.get("row", "").rpartition("_")
    if op == "sample" and scenario in SCENARIOS:
        return {"ok": True, "samples": [sample_of(scenario, int(size), request["params"]) for _ in range(request["iterations"])]}
    if op == "bye":
        return {"ok": True}
    return {"ok": False, "error": {"code": "unsupported", "message": f"no {op} {request.get('row', '')}"}}


def main():
    for line in sys.stdin:
        request = {}
        try:
            request = json.loads(line)
            reply = answer(request)
        except Refused as refusal:
            reply = {"ok": False, "error": {"code": "failed", "message": str(refusal)}}
        except Exception as error:  # whatever the lab sent
            reply = {"ok": False, "error": {"code": "invalid", "message": repr(error)}}
        known = isinstance(request, dict)
        print(json.dumps({"id": request.get("id") if known else None, **reply}), flush=True)
        if known and request.get("op") == "bye":
            break


if __name__ == "__main__":
    main()
