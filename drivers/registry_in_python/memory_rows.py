"""The rows of what a registry does in memory: admission, sweeping, and finding the newest runs."""

from .admission import Admission, at_most
from .bench import child, now
from .dedupe import newest_per_child
from .registry import Run, Task, wall_clock

CONTROLLER = "agent:main:main"
GENERATIONS = 3
HOUR_MS = 3_600_000


async def admission(context):
    slots = Admission()
    policy = at_most(context.n)

    started = now()
    reservations = [slots.reserve(CONTROLLER, policy) for _ in range(context.n)]
    overflow = slots.reserve(CONTROLLER, policy)
    first, *others = reservations
    released = first.release()
    again = first.release()
    for reservation in others:
        released += reservation.release()
    reused = slots.reserve(CONTROLLER, policy)
    finished = now()

    taken = slots.pending(CONTROLLER)
    reused.release()
    counters = {
        "admissionCap": sum(reservation.granted for reservation in reservations),
        "overflowRejected": int(not overflow.granted),
        "released": int(released),
        "doubleReleaseHarmless": int(not again and taken == 1),
        "slotReused": int(reused.granted),
    }
    return {"ns": {"total": finished - started}, "counters": counters}


def generations(n, nonce):
    """Runs of `n` children, three generations each, oldest first: the last was interrupted, the others are archived."""
    at = wall_clock() - HOUR_MS
    runs = []
    for k in range(n):
        for generation in range(1, GENERATIONS + 1):
            newest = generation == GENERATIONS
            run = Run(child(nonce, k, "keep" if newest else "delete"), len(runs) + 1, generation, at)
            if newest:
                run.status = "interrupted"
            else:
                run.status, run.outcome, run.ended_at, run.archive_at = "terminal", "ok", at, at
            runs.append(run)
    return runs


def newest_in(runs):
    return sum(run.generation == GENERATIONS for run in runs)


async def sweep(context, n):
    registry = context.bench.in_memory(n).registry
    for run in generations(n, context.nonce):
        registry.adopt(run, Task(run.id, run.ended_at))
    seeded = len(registry.runs)

    started = now()
    swept = await registry.sweep()
    finished = now()

    counters = {
        "seededRows": seeded,
        "removedRows": len(swept.removed),
        "retainedCurrent": newest_in(registry.runs.values()),
        "sessionEffects": swept.session_effects,
        "recoveryProjections": swept.recovery_projections,
        "lostContextCompletions": swept.lost_context_completions,
        "repeatedProjections": (await registry.sweep()).recovery_projections,
    }
    return {"ns": {"total": finished - started}, "counters": counters}


async def dedupe(context, n):
    oldest_first = generations(n, context.nonce)
    newest_first = oldest_first[::-1]

    started = now()
    of_newest_first = newest_per_child(newest_first)
    of_oldest_first = newest_per_child(oldest_first)
    finished = now()

    counters = {
        "inputRowsPerOrdering": len(oldest_first),
        "newestFirstSelectedRows": len(of_newest_first),
        "oldestFirstSelectedRows": len(of_oldest_first),
        "newestFirstSelectedNewest": newest_in(of_newest_first),
        "oldestFirstSelectedNewest": newest_in(of_oldest_first),
    }
    return {"ns": {"total": finished - started}, "counters": counters}


async def recovery_sweep(context):
    return await sweep(context, context.n)


async def sweep_scale(context):
    return await sweep(context, context.n // GENERATIONS)


async def duplicate_suppression(context):
    return await dedupe(context, context.n)


async def dedupe_scale(context):
    return await dedupe(context, context.n // GENERATIONS)
