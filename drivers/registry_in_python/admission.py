"""Who may start one more child: slots, counted for each controller."""


def at_most(cap):
    """A policy that lets a controller have this many children at a time."""

    def policy(pending):
        return None if pending < cap else f"maxChildrenPerAgent is {cap}, and {pending} have started"

    return policy


class Refused:
    """No reservation, and why."""

    __slots__ = ("reason",)
    granted = False

    def __init__(self, reason):
        self.reason = reason


class Reservation:
    """A slot that is taken."""

    __slots__ = ("_admission", "_controller")
    granted = True

    def __init__(self, admission, controller):
        self._admission = admission
        self._controller = controller

    def release(self):
        """Gives the slot back, the first time that it is called; tells whether this was the first time."""
        if self._admission is None:
            return False
        self._admission._give_back(self._controller)
        self._admission = None
        return True


class Admission:
    """The slots of all controllers."""

    def __init__(self):
        self.released = 0  # reservations that were given back
        self._pending = {}

    def pending(self, controller):
        """How many slots of this controller are taken."""
        return self._pending.get(controller, 0)

    def reserve(self, controller, policy):
        """Takes a slot if the policy, asked with the slots that are taken, has nothing against it."""
        pending = self._pending.get(controller, 0)
        reason = policy(pending)
        if reason is not None:
            return Refused(reason)
        self._pending[controller] = pending + 1
        return Reservation(self, controller)

    def _give_back(self, controller):
        left = self._pending[controller] - 1
        if left > 0:
            self._pending[controller] = left
        else:
            del self._pending[controller]
        self.released += 1
