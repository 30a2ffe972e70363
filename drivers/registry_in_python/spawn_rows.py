"""The rows that spawn children: until they are registered, until they are settled, and all at once for a while."""

import asyncio

from .bench import child, now
from .pipeline import spawn
from .protocol import param
from .state_file import state_file


SWEEP_PAUSE_S = 0.002


async def together(coroutines):
    """Runs all of them to their end; returns their results, or raises what the first of them raised."""
    results = await asyncio.gather(*coroutines, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


async def teardown(agents):
    """Removes all runs, and counts what is left of them."""
    registry = agents.registry
    await registry.remove(list(registry.runs.values()))
    disk = agents.store.count_on_disk()
    return {
        "postTeardownRegistryRows": len(registry.runs),
        "postTeardownTaskRows": len(registry.tasks),
        "postTeardownDurableSubagentRows": disk.runs,
        "postTeardownDurableTaskRows": disk.tasks,
        "postTeardownActiveRootWork": registry.active_work,
    }


async def settle_all(registry, runs):
    """Settles these runs all together; returns how many of them that ended."""
    return sum(await together(registry.settle(run.id, "ok") for run in runs))


def ended_tasks(registry):
    return sum(task.status == "ended" for task in registry.tasks.values())


async def start_waits(registry, runs):
    """A waiter on each run, and all of them blocked: a task begins at the next turn of the event loop."""
    waits = [asyncio.ensure_future(registry.wait(run.id)) for run in runs]
    await asyncio.sleep(0)
    return waits


async def pipeline(agents, context):
    registry = agents.registry
    requests = [child(context.nonce, k) for k in range(context.n)]

    started = now()
    runs = await together([spawn(agents, request) for request in requests])
    finished = now()

    counters = {
        "registeredRuns": sum(run.status == "running" for run in registry.runs.values()),
        "uniqueRunIds": len({run.id for run in runs}),
        "reservationsReleased": agents.admission.released,
    }
    waits = await start_waits(registry, runs)
    counters["blockedWaits"] = registry.blocked_waits
    disk = agents.store.count_on_disk()
    counters["settledRuns"] = await settle_all(registry, runs)
    await together(waits)
    counters |= {
        "settledTasks": ended_tasks(registry),
        "outstandingWaits": registry.blocked_waits,
        "durableSubagentRows": disk.runs - disk.ended_runs,
        "durableTaskRows": disk.tasks - disk.ended_tasks,
        "durableStateFile": int(state_file(context.folder).exists()),
        **await teardown(agents),
    }
    return {"ns": {"total": finished - started}, "counters": counters}


def durable_agents(context):
    return context.bench.durable(context.folder, context.n, context.budget)


async def spawn_pipeline_in_memory(context):
    with context.bench.in_memory(context.n) as agents:
        return await pipeline(agents, context)


async def spawn_pipeline_durable(context):
    with durable_agents(context) as agents:
        return await pipeline(agents, context)


async def spawn_settle_end_to_end(context):
    with durable_agents(context) as agents:
        registry = agents.registry
        requests = [child(context.nonce, k) for k in range(context.n)]

        started = now()
        runs = await together([spawn(agents, request) for request in requests])
        spawned = now()
        waits = await start_waits(registry, runs)
        settled = await settle_all(registry, runs)
        outcomes = await together(waits)
        finished = now()

        counters = {
            "registeredRuns": len({run.id for run in runs}),
            "waitersNotified": sum(outcome == "ok" for outcome in outcomes),
            "settledRuns": settled,
            "settledTasks": ended_tasks(registry),
            "outstandingWaits": registry.blocked_waits,
            "durableEndedRows": agents.store.count_on_disk().ended_runs,
            **await teardown(agents),
        }
    ns = {"total": finished - started, "spawn": spawned - started, "settle": finished - spawned}
    return {"ns": ns, "counters": counters}


class Load:
    """What has been done under a mixed load."""

    def __init__(self):
        self.cycles = self.waits = self.settles = self.sweeps = 0
        self.spawned = []
        self.swept = set()
        self.over = False

    async def client(self, agents, name, deadline):
        """Spawns, waits and settles, over and over until `deadline`."""
        registry = agents.registry
        i = 0
        while i == 0 or now() < deadline:
            await asyncio.sleep(0)  # as a request comes in
            run = await spawn(agents, child(name, i, "delete"))
            self.spawned.append(run.id)
            (wait,) = await start_waits(registry, [run])
            self.waits += 1
            settled = await registry.settle(run.id, "ok")
            await wait
            self.settles += settled
            self.cycles += 1
            i += 1

    async def sweeper(self, registry):
        """Sweeps, with a pause after each sweep, until it is told to stop."""
        while True:
            self.swept.update((await registry.sweep()).removed)
            self.sweeps += 1
            await asyncio.sleep(SWEEP_PAUSE_S)
            if self.over:
                break

    async def run(self, agents, names, deadline):
        """The moment at which the last client was done."""
        sweeping = asyncio.ensure_future(self.sweeper(agents.registry))
        try:
            await together(self.client(agents, name, deadline) for name in names)
            return now()
        finally:
            self.over = True
            await sweeping


async def mixed_load(context):
    duration_ms = param(context.params, "durationMs", int)
    names = [f"{context.nonce}-{k}" for k in range(context.n)]
    load = Load()
    with durable_agents(context) as agents:
        started = now()
        finished = await load.run(agents, names, started + duration_ms * 1_000_000)

        registry = agents.registry
        lost = [number for number in load.spawned if number not in registry.runs and number not in load.swept]
        counters = {
            "cycles": load.cycles,
            "spawns": len(load.spawned),
            "waits": load.waits,
            "settles": load.settles,
            "sweeps": load.sweeps,
            "outstandingWaits": registry.blocked_waits,
            "lostRuns": len(lost),
            **await teardown(agents),
        }
    return {"ns": {"total": round((finished - started) / load.cycles)}, "counters": counters}
