#!/usr/bin/env python3
"""A driver that breaks one rule of docs/driver-protocol.md: faulty_driver.py MODE.

Mode `good` breaks none. It starts no processes for its samples, so that tests of the lab are fast; what it
reports is made up. $TARE_PID_FILE, if set, gets the pids of the driver and of what it leaves behind.
"""

import json
import os
import signal
import subprocess
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
PROTOCOL = "tare.driver.v1"
FOREVER = 3600


def send(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def send_bytes(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def note_pid(pid):
    path = os.environ.get("TARE_PID_FILE")
    if path:
        with open(path, "a", encoding="ascii") as file:
            file.write(f"{pid}\n")


def leave_a_process():
    """A grandchild in a session of its own, whose parent is gone: nobody's child but the subreaper's."""
    text = f"import os, sys\nif os.fork(): os._exit(0)\nos.setsid()\nprint(os.getpid(), flush=True)\nos.close(1)\n" \
           f"os.execlp('sleep', 'sleep', '{FOREVER}')"
    out = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, check=True).stdout
    note_pid(int(out))


def error_line(number, code, message):
    return json.dumps({"id": number, "ok": False, "error": {"code": code, "message": message}}) + "\n"


def hello(request):
    if request["protocol"] != PROTOCOL:
        return error_line(request["id"], "unsupported", f"this driver speaks {PROTOCOL}")
    reply = {
        "id": request["id"],
        "ok": True,
        "protocol": PROTOCOL,
        "name": "faulty",
        "version": "1",
        "engine": "none",
        "pid": os.getpid(),
        "rows": ["exec_true", "capture_2b"],
    }
    if MODE == "bad_hello":
        del reply["rows"]
    elif MODE == "wrong_pid":
        reply["pid"] = 0
    elif MODE == "other_protocol":
        reply["protocol"] = "tare.driver.v9"
    elif MODE == "hello_late":
        time.sleep(FOREVER)
    elif MODE == "hello_garbage":
        return "Welcome to the driver!\n"
    elif MODE == "hello_refused":
        return error_line(request["id"], "unsupported", "no such protocol")
    return json.dumps(reply) + "\n"


def sample_of(row, params):
    ns = {"total": 1200, "spawn": 1000, "wait_reap": 200}
    sample = {"ns": ns, "outcome": "ok", "counters": {"exitCode": 0}}
    if row == "capture_2b":
        sample["ns"] = {"total": 1200}
        sample["output"] = params["nonce"]
    changes = {
        "negative": lambda: ns.update(total=-5),
        "missing_ns": lambda: sample.pop("ns"),
        "missing_total": lambda: ns.pop("total"),
        "missing_phase": lambda: ns.pop("spawn", None),
        "text_time": lambda: ns.update(total="1200"),
        "null_time": lambda: ns.update(total=None),
        "impossible_time": lambda: ns.update(total=3600 * 10**9),
        "unknown_outcome": lambda: sample.update(outcome="fine"),
        "missing_outcome": lambda: sample.pop("outcome"),
        "broken_counter": lambda: sample.update(counters={"exitCode": 0.5}),
        "wrong_code": lambda: sample.update(counters={"exitCode": 1}),
        "lost_code": lambda: sample.update(counters={}),
        "wrong_output": lambda: sample.update(output="??"),
        "failed_sample": lambda: sample.update(outcome="failed", error="the program is missing"),
        "timeout_sample": lambda: sample.update(outcome="timeout", error="too slow"),
        "refused_sample": lambda: sample.update(outcome="refused", error="64 processes are the limit"),
    }
    changes.get(MODE, lambda: None)()
    return sample


def misbehave_mid_sample():
    """What happens instead of an answer; None goes on to answer."""
    if MODE == "late":
        time.sleep(FOREVER)
    elif MODE == "late_with_child":
        note_pid(subprocess.Popen(["sleep", str(FOREVER)], start_new_session=True).pid)
        time.sleep(FOREVER)
    elif MODE == "dies_exit_3":
        print("Traceback: something broke", file=sys.stderr, flush=True)
        os._exit(3)
    elif MODE == "dies_sigkill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif MODE == "dies_with_child":
        note_pid(subprocess.Popen(["sleep", str(FOREVER)], start_new_session=True).pid)
        os._exit(3)
    elif MODE == "leaves":
        os._exit(0)
    elif MODE == "half_line":
        send('{"id":1,"ok":tr')
        os._exit(0)
    elif MODE == "closes_stdout":
        os.close(1)
        time.sleep(FOREVER)
    elif MODE == "stderr_flood":
        sys.stderr.write("noise\n" * 175000 + "the last line of the log\n")
        sys.stderr.flush()


def sample(request):
    misbehave_mid_sample()
    if MODE == "garbage":
        return "Segmentation fault\n"
    if MODE == "not_object":
        return "[1]\n"
    if MODE == "nan":
        return f'{{"id":{request["id"]},"ok":true,"samples":[{{"ns":{{"total":NaN}},"outcome":"ok"}}]}}\n'
    if MODE == "infinite":
        return f'{{"id":{request["id"]},"ok":true,"samples":[{{"ns":{{"total":1e999}},"outcome":"ok"}}]}}\n'
    if MODE.startswith("error_"):
        return error_line(request["id"], MODE[len("error_"):], "it is like that")
    row = request["row"]
    if row not in ("exec_true", "capture_2b"):
        return error_line(request["id"], "unsupported", f"no row {row}")
    count = request["iterations"] + {"few_samples": -1, "many_samples": 1}.get(MODE, 0)
    samples = [sample_of(row, request["params"]) for _ in range(count)]
    number = {"wrong_id": request["id"] + 17, "missing_id": None}.get(MODE, request["id"])
    line = json.dumps({"id": number, "ok": True, "samples": samples}) + "\n"
    return line * 2 if MODE == "twice" else line


def main():
    note_pid(os.getpid())
    if MODE == "chatty":
        send("starting...\n")
    if MODE == "stray":
        leave_a_process()
    for line in sys.stdin:
        try:
            request = json.loads(line)
            op = request["op"]
        except (ValueError, TypeError):
            if MODE == "dies_of_bad_line":
                raise
            send(error_line(None, "invalid", "not a JSON object"))
            continue
        if op == "bye":
            if MODE == "hangs_at_bye":
                time.sleep(FOREVER)
            send(json.dumps({"id": request["id"], "ok": True}) + "\n")
            if MODE == "stays_after_bye":
                time.sleep(FOREVER)
            return
        if op == "hello":
            send(hello(request))
        elif op == "sample" and MODE == "long_line":
            send_bytes(b"x" * (17 << 20) + b"\n")
        elif op == "sample" and MODE == "bad_utf8":
            send_bytes(b'{"id":1,"ok":true,"note":"\xff\xfe"}\n')
        elif op == "sample":
            send(sample(request))
        else:
            send(error_line(request["id"], "unsupported", f"no op {op}"))
    if MODE == "ignores_eof":
        time.sleep(FOREVER)


if __name__ == "__main__":
    main()
