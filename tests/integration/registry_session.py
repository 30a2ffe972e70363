"""A registry of agent runs that a test asks itself, without the bench between them."""

import contextlib
import json
import os
import select
import subprocess

NONCE = "0123456789abcdef"


class Session:
    """A driver that runs, and the requests to it."""

    def __init__(self, test, command, **environment):
        self.test = test
        self.log = open(test.folder / f"log{len(list(test.folder.glob('log*')))}", "w+", encoding="utf-8")
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, env=test.environment(**environment))
        self.number = 0

    def send(self, **request):
        self.number += 1
        self.process.stdin.write(json.dumps({"id": self.number, **request}) + "\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else self.test.fail(f"no answer; its log: {self.text()}")
        self.test.assertEqual(answer["id"], self.number)
        return answer

    def ask(self, **request):
        self.send(**request)
        return self.receive()

    def send_sample(self, row, folder, iterations=1, **params):
        size = int(row.rpartition("_")[2])
        params = {"size": size, "nonce": NONCE, "dir": str(folder), "timeoutMs": 60000, **params}
        self.send(op="sample", row=row, params=params, iterations=iterations)

    def sample(self, row, folder, iterations=1, **params):
        """The samples of a request that is carried out."""
        self.send_sample(row, folder, iterations, **params)
        answer = self.receive()
        self.test.assertTrue(answer["ok"], answer)
        self.test.assertEqual(len(answer["samples"]), iterations)
        return answer["samples"]

    def refusal(self, row, folder, code="failed", **params):
        """The words of a request that is refused."""
        self.send_sample(row, folder, **params)
        answer = self.receive()
        self.test.assertFalse(answer["ok"], answer)
        self.test.assertEqual(answer["error"]["code"], code, answer)
        return answer["error"]["message"]

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.test.assertTrue(self.ask(op="bye")["ok"])
            out, _ = self.process.communicate(timeout=10)
            self.test.assertEqual((out, self.process.returncode, self.text()), ("", 0, ""))
        self.end()

    def kill(self):
        self.process.kill()
        self.end()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.log.close()


class Acks:
    """The reading end of the pipe that takes the acknowledgements."""

    def __init__(self, path):
        os.mkfifo(path)
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(self.fd, True)
        self.lines = []
        self.open = ""

    def read(self, least):
        """Reads until this many lines are there, or the writer has gone."""
        while len(self.lines) < least and self.read_more():
            pass

    def read_more(self):
        poll = select.poll()
        poll.register(self.fd)  # without a writer it is silent, and once one has gone it is at its end
        assert poll.poll(30_000), "nobody acknowledges anything"
        chunk = os.read(self.fd, 4096).decode()
        *lines, self.open = (self.open + chunk).split("\n")
        self.lines += lines
        return chunk != ""

    def close(self):
        """Reads what is left once the writer has gone."""
        while self.read_more():
            pass
        os.close(self.fd)
        assert self.open == "", "an acknowledgement in two halves"
