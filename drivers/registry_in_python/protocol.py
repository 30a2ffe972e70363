"""The wire side of a driver in Python: one JSON object a line on stdin and stdout. See docs/driver-protocol.md."""

import json
import os
import sys

PROTOCOL = "tare.driver.v1"
LINE_LIMIT = 16 * 1024 * 1024


class Refusal(Exception):
    """An answer of the kind {"ok": false}. Codes: unsupported, failed, timeout, invalid."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def param(params, name, kind):
    """A member of a request, or a Refusal. Kinds: str, dict, and int, which is at least 1."""
    value = params.get(name)
    good = isinstance(value, kind) and not isinstance(value, bool) and (kind is not int or value > 0)
    if not good:
        wanted = "count" if kind is int else kind.__name__
        raise Refusal("invalid", f"{name} must be a {wanted}, got {json.dumps(value)}")
    return value


def _parse(line):
    try:
        request = json.loads(line)
    except ValueError as error:
        raise Refusal("invalid", f"not JSON: {error}") from error
    if not isinstance(request, dict):
        raise Refusal("invalid", "not a JSON object")
    return request


def _answer(line, handlers):
    """The reply to one line (None for one that is too long), and whether it was the last."""
    number = None
    try:
        if line is None:
            raise Refusal("invalid", "a line is longer than 16 MiB")
        request = _parse(line)
        number, op = request.get("id"), request.get("op")
        if not isinstance(number, int) or isinstance(number, bool):
            number = None
            raise Refusal("invalid", "id must be a whole number")
        if op == "bye":
            return {"id": number, "ok": True}, True
        if not isinstance(op, str) or op not in handlers:
            raise Refusal("unsupported", f"no op {json.dumps(op)}")
        return {"id": number, "ok": True, **handlers[op](request)}, False
    except Refusal as error:
        return {"id": number, "ok": False, "error": {"code": error.code, "message": str(error)}}, False
    except Exception as error:  # a driver answers, whatever happens
        message = f"{type(error).__name__}: {error}"
        return {"id": number, "ok": False, "error": {"code": "failed", "message": message}}, False


def _lines(stream):
    """The lines of a stream; None instead of one that is longer than the limit."""
    while line := stream.readline(LINE_LIMIT + 2):
        if len(line.rstrip(b"\n")) <= LINE_LIMIT:
            if line != b"\n":
                yield line
            continue
        while not line.endswith(b"\n") and (line := stream.readline(LINE_LIMIT)):
            pass
        yield None


def serve(handlers):
    """Answers requests until `bye` or the end of stdin. `handlers` maps an op to a function of the request."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # stdout belongs to the protocol
    try:
        for line in _lines(sys.stdin.buffer):
            reply, last = _answer(line, handlers)
            out.write(json.dumps(reply, allow_nan=False) + "\n")
            out.flush()
            if last:
                break
    except BrokenPipeError:
        pass  # nobody listens any more
