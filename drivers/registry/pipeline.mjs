// How a child comes to be: admitted, initialized, dispatched, registered.

/** The side that would run the agents. Here each step only lets others go on. */
export const idleBackend = {
  async initialize() {
    await undefined;
  },
  async dispatch() {
    await undefined;
  },
  /** Undoes what was done before `phase` failed. */
  async cleanup() {
    await undefined;
  },
  /** What is left of a child session goes. */
  endSession() {},
};

/**
 * Spawns a child and resolves to its run once that is registered. The admission slot is given back in any case, and
 * what a failed phase leaves is cleaned up.
 */
export async function spawn({ admission, policy, backend, registry }, request) {
  const reservation = admission.reserve(request.controller, policy);
  if (!reservation.granted) throw new Error(`no child for ${request.controller}: ${reservation.reason}`);
  registry.spawning += 1;
  let phase = "initialize";
  try {
    await backend.initialize(request);
    phase = "dispatch";
    await backend.dispatch(request);
    phase = "register";
    return await registry.register(request);
  } catch (error) {
    await backend.cleanup(request, phase);
    throw error;
  } finally {
    reservation.release();
    registry.spawning -= 1;
  }
}
