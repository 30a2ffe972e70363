"""The rows of the agents bench. See docs/driver-protocol.md."""

import asyncio
import contextlib
import json
import re
from dataclasses import dataclass, field

from .bench import Bench, Budget, Late, memory
from .memory_rows import admission, dedupe_scale, duplicate_suppression, recovery_sweep, sweep_scale
from .protocol import Refusal, param
from .restart_rows import durable_crash, restart_scale
from .spawn_rows import mixed_load, spawn_pipeline_durable, spawn_pipeline_in_memory, spawn_settle_end_to_end

SCENARIOS = {
    "spawnPipelineInMemory": spawn_pipeline_in_memory,
    "spawnPipelineDurable": spawn_pipeline_durable,
    "admission": admission,
    "recoverySweep": recovery_sweep,
    "duplicateSuppression": duplicate_suppression,
    "spawnSettleEndToEnd": spawn_settle_end_to_end,
    "mixedLoad": mixed_load,
    "durableCrash": durable_crash,
    "sweepScale": sweep_scale,
    "dedupeScale": dedupe_scale,
    "restartScale": restart_scale,
}
IN_MEMORY = {admission, recovery_sweep, duplicate_suppression, sweep_scale, dedupe_scale}
ROWS = [f"{name}_<n>" for name in SCENARIOS]


@dataclass
class RequestState:
    """What lasts from the first sample of a request to its last."""

    cleanups: contextlib.ExitStack
    prepared: bool = False


@dataclass
class Context:
    """What a scenario gets for one sample."""

    bench: Bench
    request: RequestState
    params: dict
    n: int
    nonce: str
    folder: str | None
    budget: Budget


def _parse(row):
    match = re.fullmatch(r"(\w+)_([1-9][0-9]*)", row, re.ASCII)
    if match is None or match[1] not in SCENARIOS:
        raise Refusal("unsupported", f"no row {json.dumps(row)}")
    return SCENARIOS[match[1]], int(match[2])


async def _sample(bench, request, row, params):
    scenario, size = _parse(row)
    n = param(params, "size", int)
    if n != size:
        raise Refusal("invalid", f"size must be {size} in {row}, got {n}")
    limit_ms, nonce = param(params, "timeoutMs", int), param(params, "nonce", str)
    folder = None if scenario in IN_MEMORY else param(params, "dir", str)

    rss_start, _ = memory()
    budget = Budget(limit_ms)
    try:
        sample = {"outcome": "ok", **await scenario(Context(bench, request, params, n, nonce, folder, budget))}
        budget.check(sample["ns"]["total"])
    except Late as late:
        sample = {"outcome": "timeout", "error": str(late), "ns": {"total": budget.age}, "counters": {}}
    rss_end, peak = memory()
    sizes = {"rssStartBytes": rss_start, "rssEndBytes": rss_end, "processMaxRssBytes": peak}
    return {**sample, "bytes": sizes}


def sampler(bench, runner: asyncio.Runner):
    """The op `sample`."""

    def sample(message):
        row, params = param(message, "row", str), param(message, "params", dict)
        iterations = param({"iterations": 1} | message, "iterations", int)
        with contextlib.ExitStack() as cleanups:
            request = RequestState(cleanups)
            return {"samples": [runner.run(_sample(bench, request, row, params)) for _ in range(iterations)]}

    return sample
