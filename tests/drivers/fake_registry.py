#!/usr/bin/env python3
"""A registry of agent runs that only says it has done everything: it answers every row of the agents bench as
docs/driver-protocol.md asks for, in no time. `fake_registry.py MODE [ROW]` misbehaves in one way, in every row or only in
one scenario.

durableCrash alone is real: what was acknowledged is in a file that outlives the process.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

from faulty_registry import SCENARIOS, counters_of

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
ONLY = sys.argv[2] if len(sys.argv) > 2 else ""
FOREVER = 1000
IN_FLIGHT = 64


def send(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def task_of(k):
    return 100 * chr(ord("a") + k % 26)


def register(params):
    """Runs are written and acknowledged in batches of those in flight, in any order, as a registry with one writer does."""
    lost = [int(params["size"] * share) for share in (0.0, 0.001, 0.5)]
    acks = os.open(params["acks"], os.O_WRONLY)
    with open(os.path.join(params["dir"], "runs"), "a", encoding="utf-8") as file:
        for first in range(0, params["size"], IN_FLIGHT):
            batch = list(range(first, min(first + IN_FLIGHT, params["size"])))
            random.shuffle(batch)
            for k in batch:
                if MODE == "loses" and k in lost:
                    continue
                file.write(f"{params['nonce']}-{k} {task_of(k)}\n")
            file.flush()
            for k in batch:
                os.write(acks, f"{params['nonce']}-{k}\n".encode())
    return {"registeredRuns": params["size"]}, None


def recover(params):
    path = os.path.join(params["dir"], "runs")
    lines = open(path, encoding="utf-8").read().split("\n")[:-1]  # what the kill cut short was not acknowledged
    os.remove(path)
    runs = [line.split(" ") for line in lines]
    if MODE == "invents":
        runs.append(["nobody-0", task_of(0)])
    if MODE == "doubles":
        runs.append(runs[0])
    if MODE == "garbles":
        runs[0][1] = runs[0][1][:-1] + "!"
    status = "running" if MODE == "forgets" else "interrupted"
    output = "".join(f"{label} {status} {task}\n" for label, task in runs)
    return {"restoredRuns": len(runs), "interruptedRuns": 0 if MODE == "forgets" else len(runs)}, output


def sample_of(scenario, params):
    n = params["size"]
    output = None
    if scenario == "durableCrash":
        if MODE == "answers_early" and params["phase"] == "register":
            counters = {"registeredRuns": n}
            open(os.path.join(params["dir"], "runs"), "w", encoding="utf-8").close()
        else:
            counters, output = register(params) if params["phase"] == "register" else recover(params)
    else:
        counters = counters_of(scenario, n)
    ns = {"total": 20 * n}
    if scenario == "spawnSettleEndToEnd":
        ns.update(spawn=14 * n, settle=6 * n)
    sample = {"outcome": "ok", "ns": ns, "counters": counters,
              "bytes": {"rssStartBytes": 10_000_000, "rssEndBytes": 11_000_000, "processMaxRssBytes": 12_000_000}}
    if output is not None:
        sample["output"] = output
    name = next(iter(counters))
    changes = {
        "wrong_invariant": lambda: counters.update({name: counters[name] + 1}),
        "missing_invariant": lambda: counters.pop(name),
        "null_invariant": lambda: counters.update({name: None}),
        "missing_memory": lambda: sample["bytes"].update(rssEndBytes=None),
        "no_memory": lambda: sample.pop("bytes"),
        "negative_memory": lambda: sample["bytes"].update(rssEndBytes=-1),
        "negative": lambda: ns.update(total=-1),
        "missing_total": lambda: ns.pop("total"),
        "failed_sample": lambda: sample.update(outcome="failed", error="the registry is full"),
        "uses_up_its_budget": lambda: sample.update(outcome="timeout", error="the budget was over"),
        "timeout_sample": lambda: sample.update(outcome="timeout", error="too slow"),
        "leaves_file": lambda: open(os.path.join(params["dir"], "left"), "w", encoding="utf-8").close(),
    }
    changes.get(MODE, lambda: None)()
    return sample


def misbehave(params):
    if MODE == "uses_up_its_budget":
        time.sleep(params["timeoutMs"] / 1000 + 0.3)  # it tidies up before it says so
    elif MODE == "late":
        time.sleep(FOREVER)
    elif MODE == "late_with_child":
        subprocess.Popen(["sleep", str(FOREVER)])
        time.sleep(FOREVER)
    elif MODE == "exit_3":
        print("the registry is broken", file=sys.stderr, flush=True)
        os._exit(3)
    elif MODE == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif MODE == "leaves":
        os._exit(0)
    elif MODE == "stray":
        subprocess.Popen(["sleep", str(FOREVER)], start_new_session=True)


def sample(request):
    scenario, _, size = request["row"].rpartition("_")
    global MODE
    if ONLY and scenario != ONLY:
        return [sample_of(scenario, request["params"]) for _ in range(request["iterations"])]
    if MODE == "unsupported":
        raise KeyError(scenario)
    if MODE.startswith("says:"):
        raise OSError(MODE.partition(":")[2])
    params = request["params"]
    misbehave(params)
    if MODE == "another_row":
        params = {**params, "size": params["size"] + 1}
    count = request["iterations"] + {"few_samples": -1, "many_samples": 1}.get(MODE, 0)
    return [sample_of(scenario, params) for _ in range(count)]


def answer(request):
    op = request["op"]
    if op == "hello":
        rows = [f"{s}_<n>" for s in SCENARIOS if not (MODE == "lacks" and s == (ONLY or "mixedLoad"))]
        return {"protocol": "tare.driver.v1", "name": "fake", "version": "1", "engine": "none", "pid": os.getpid(), "rows": rows,
                "unavailable": {"mixedLoad_<n>": "it does one thing at a time"} if MODE == "lacks" else {}}
    if op == "sample":
        return {"samples": sample(request)}
    return {}


def quiet_mode(request):
    """Whether this request is of another scenario than the one in which to misbehave."""
    return bool(ONLY) and request["op"] == "sample" and request["row"].rpartition("_")[0] != ONLY


def main():
    global MODE
    chosen, sampled = MODE, False
    for line in sys.stdin:
        request = json.loads(line)
        MODE = "" if quiet_mode(request) else chosen
        concerned = request["op"] == "sample" and not quiet_mode(request)
        sampled = sampled or concerned
        number = request["id"] + (17 if MODE == "wrong_id" and concerned else 0)
        try:
            reply = {"id": number, "ok": True, **answer(request)}
        except KeyError as error:
            reply = {"id": number, "ok": False, "error": {"code": "unsupported", "message": str(error)}}
        except OSError as error:
            reply = {"id": number, "ok": False, "error": {"code": "failed", "message": str(error)}}
        if MODE == "garbage" and concerned:
            send("Segmentation fault")
            continue
        send(json.dumps(reply))
        if MODE == "twice" and concerned:
            send(json.dumps(reply))
        if request["op"] == "bye":
            if sampled and chosen == "exit_3_at_end":
                sys.exit(3)
            if sampled and chosen == "stays":
                time.sleep(FOREVER)
            return


if __name__ == "__main__":
    main()
