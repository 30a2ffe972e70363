"""A mock model server and gateways as processes, for the tests of the gateway."""

import http.client
import json
import signal
import threading

import gateway_client
import harness


class GatewayProcess:
    """A running gateway: its port, its log."""

    def __init__(self, test, process):
        self.test = test
        self.process = process
        self.log = []
        # Read as it comes: a full pipe would hold the gateway up.
        self.reader = threading.Thread(target=lambda: self.log.extend(process.stderr), daemon=True)
        self.reader.start()
        first = process.stdout.readline()
        if not first:
            process.wait(timeout=30)
            self.reader.join(timeout=10)
            raise AssertionError(f"it did not start: {''.join(self.log)}")
        self.ready = json.loads(first)
        self.port = self.ready["port"]

    def connect(self, **changes):
        client = gateway_client.Gateway(self.port, **changes)
        self.test.addCleanup(client.socket.socket.close)
        return client

    def get(self, path, method="GET", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def metric(self, name):
        for line in self.get("/metrics")[1].splitlines():
            if line.startswith(f"tare_gateway_{name} "):
                return float(line.split()[-1])
        raise AssertionError(f"no metric {name}")

    def records(self):
        return [json.loads(line) for line in self.log]

    def stop(self, sent=signal.SIGTERM):
        """Its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(sent)
        code = self.process.wait(timeout=30)
        self.reader.join(timeout=10)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


class GatewayTest(harness.TareTest):
    def start_provider(self, *arguments):
        """Its URL."""
        process = self.start("serve", "provider", "--port", 0, *arguments)
        self.addCleanup(self.end, process)
        return json.loads(process.stdout.readline())["url"]

    def start_gateway(self, *arguments, provider=None, state="state", **options):
        process = self.start("serve", "gateway", "--port", 0, "--state", self.folder / state,
                             *(["--provider-url", provider] if provider else []), *arguments, **options)
        self.addCleanup(self.end, process)
        return GatewayProcess(self, process)

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait(timeout=30)
        for stream in (process.stdout, process.stderr):
            if stream and not stream.closed:
                stream.close()
