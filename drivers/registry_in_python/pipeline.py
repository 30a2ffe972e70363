"""How a child comes to be: admitted, initialized, dispatched, registered."""

import asyncio


class IdleBackend:
    """The side that would run the agents. Here each step only lets others go on."""

    async def initialize(self, request):
        await asyncio.sleep(0)

    async def dispatch(self, request):
        await asyncio.sleep(0)

    async def clean_up(self, request, phase):
        """Undoes what was done before `phase` failed."""
        await asyncio.sleep(0)

    def end_session(self, child):
        """What is left of a child session goes."""


async def spawn(agents, request):
    """Spawns a child and returns its run once that is registered.

    The admission slot is given back in any case, and what a failed phase leaves is cleaned up.
    """
    registry, backend = agents.registry, agents.backend
    reservation = agents.admission.reserve(request.controller, agents.policy)
    if not reservation.granted:
        raise RuntimeError(f"no child for {request.controller}: {reservation.reason}")
    registry.spawning += 1
    phase = "initialize"
    try:
        await backend.initialize(request)
        phase = "dispatch"
        await backend.dispatch(request)
        phase = "register"
        return await registry.register(request)
    except BaseException:
        await backend.clean_up(request, phase)
        raise
    finally:
        reservation.release()
        registry.spawning -= 1
