// Who may start one more child: slots, counted for each controller.

/** A policy that lets a controller have this many children at a time. */
export function atMost(cap) {
  return (pending) => (pending < cap ? undefined : `maxChildrenPerAgent is ${cap}, and ${pending} have started`);
}

class Reservation {
  granted = true;
  #giveBack;

  constructor(giveBack) {
    this.#giveBack = giveBack;
  }

  /** Gives the slot back, the first time that it is called; tells whether this was the first time. */
  release() {
    const giveBack = this.#giveBack;
    if (giveBack === undefined) return false;
    this.#giveBack = undefined;
    giveBack();
    return true;
  }
}

export class Admission {
  released = 0; // reservations that were given back
  #pending = new Map();

  /** How many slots of this controller are taken. */
  pending(controller) {
    return this.#pending.get(controller) ?? 0;
  }

  /**
   * Takes a slot if the policy, asked with the slots that are taken, has nothing against it. Returns the reservation,
   * or {granted: false, reason} with the policy's words.
   */
  reserve(controller, policy) {
    const pending = this.pending(controller);
    const reason = policy(pending);
    if (reason !== undefined) return { granted: false, reason };
    this.#pending.set(controller, pending + 1);
    return new Reservation(() => this.#release(controller));
  }

  #release(controller) {
    const left = this.pending(controller) - 1;
    if (left > 0) this.#pending.set(controller, left);
    else this.#pending.delete(controller);
    this.released += 1;
  }
}
