"""`tare serve provider` as a process: what it prints, answers and logs, how it is refused, stopped and fails."""

import contextlib
import http.client
import json
import signal
import socket
import time

import harness


class ServeProvider(harness.TareTest):
    @contextlib.contextmanager
    def serving(self, *arguments, code=0, stop=signal.SIGTERM):
        """A running server's first line and process; it is stopped at the end and must exit with this code."""
        process = self.start("serve", "provider", *arguments)
        try:
            yield json.loads(process.stdout.readline()), process
            process.send_signal(stop)
            _, self.stderr = process.communicate(timeout=30)
        finally:
            process.kill()
            process.communicate()
        self.assertEqual(process.returncode, code, self.stderr)

    def request(self, port, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers or {})
            response = connection.getresponse()
            return response.status, response.read().decode(), response.headers
        finally:
            connection.close()

    def events(self, text):
        """The JSON of each event; the last one must be [DONE]."""
        parts = [part.removeprefix("data: ") for part in text.split("\n\n")]
        self.assertEqual(parts[-2:], ["[DONE]", ""])
        return [json.loads(part) for part in parts[:-2]]

    def log(self, name="requests.jsonl"):
        return [json.loads(line) for line in (self.folder / name).read_text(encoding="utf-8").splitlines()]

    def test_its_first_line_says_where_it_listens(self):
        with self.serving() as (line, process):
            self.assertEqual(line, {"event": "listening", "url": f"http://127.0.0.1:{line['port']}/v1", "port": line["port"],
                                    "pid": process.pid})
            self.assertEqual(self.request(line["port"], "GET", "/healthz")[:2], (200, '{"ok":true,"status":"live"}'))
        self.assertEqual(self.stderr, "")

    def test_it_speaks_both_dialects_and_logs_each_request(self):
        with self.serving("--chunks", 3, "--chunk-delay-ms", 0.5, "--log", "requests.jsonl", stop=signal.SIGINT) as (line, _):
            text = "Reply with [[marker:s-1]]"
            status, body, headers = self.request(line["port"], "POST", "/v1/responses", {"model": "m", "stream": True, "input": text})
            self.assertEqual((status, headers["content-type"]), (200, "text/event-stream"))
            events = self.events(body)
            self.assertEqual([event["type"] for event in events], [
                "response.output_item.added", *["response.output_text.delta"] * 3, "response.output_text.done",
                "response.output_item.done", "response.completed"])
            self.assertEqual("".join(event.get("delta", "") for event in events), "s-1 2 3")
            self.assertEqual(events[-1]["response"]["output"][0]["content"][0]["text"], "s-1 2 3")

            body = self.request(line["port"], "POST", "/v1/chat/completions",
                                {"model": "m", "stream": True, "messages": [{"role": "user", "content": text}]})[1]
            events = self.events(body)
            self.assertEqual(events[0]["choices"][0]["delta"], {"role": "assistant", "content": ""})
            self.assertEqual("".join(e["choices"][0]["delta"].get("content", "") for e in events if e["choices"]), "s-1 2 3")
            self.assertEqual(events[-2]["choices"][0]["finish_reason"], "stop")
            self.assertEqual(events[-1]["usage"]["completion_tokens"], 3)
        log = self.log()
        self.assertEqual([(r["seq"], r["method"], r["path"], r["outcome"]) for r in log],
                         [(1, "POST", "/v1/responses", "ok"), (2, "POST", "/v1/chat/completions", "ok")])
        for entry in log:
            self.assertGreater(entry["requestBytes"], 50)
            self.assertEqual((entry["marker"], entry["chunks"]), ("s-1", 3))

    def test_stamps_are_moments_of_the_clock_that_all_processes_share(self):
        with self.serving("--stamp", "field", "--chunks", 4, "--chunk-delay-ms", 2) as (line, _):
            before = time.monotonic_ns()
            body = self.request(line["port"], "POST", "/v1/responses", {"model": "m", "stream": True, "input": "Hi"})[1]
            after = time.monotonic_ns()
        stamps = [event["sentNs"] for event in self.events(body) if event["type"] == "response.output_text.delta"]
        self.assertEqual(len(stamps), 4)
        self.assertEqual([before, *stamps, after], sorted([before, *stamps, after]))

    def test_a_key_is_asked_for(self):
        with self.serving("--api-key", "secret") as (line, _):
            self.assertEqual(self.request(line["port"], "GET", "/v1/models")[0], 401)
            self.assertEqual(self.request(line["port"], "GET", "/v1/models", None, {"Authorization": "Bearer secret"})[0], 200)

    def test_a_stop_does_not_wait_for_a_reply_that_stalls(self):
        with self.serving("--fault", "stall", "--log", "requests.jsonl") as (line, _):
            client = socket.create_connection(("127.0.0.1", line["port"]), timeout=30)
            self.addCleanup(client.close)
            body = b'{"model":"m","stream":true,"input":"Hi"}'
            client.sendall(b"POST /v1/responses HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            received = b""
            while b"output_text.delta" not in received:
                received += client.recv(65536)
        self.assertEqual([(r["fault"], r["outcome"], r["chunks"]) for r in self.log()], [("stall", "stopped", 1)])
        while received := client.recv(65536):
            self.assertNotIn(b"\r\n0\r\n\r\n", received, "a reply that was cut must not look whole")

    def test_a_client_that_leaves_is_no_trouble(self):
        with self.serving("--chunks", 1000, "--chunk-delay-ms", 1, "--log", "requests.jsonl") as (line, _):
            client = socket.create_connection(("127.0.0.1", line["port"]), timeout=30)
            body = b'{"model":"m","stream":true,"input":"Hi"}'
            client.sendall(b"POST /v1/responses HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            client.recv(10)
            client.close()
            self.assertEqual(self.request(line["port"], "GET", "/v1/models")[0], 200)
            while not (outcomes := [r["outcome"] for r in self.log() if r["seq"] == 1]):
                time.sleep(0.01)
        self.assertEqual(outcomes, ["gone"])

    def test_a_full_disk_ends_it_with_a_word(self):
        with self.serving("--log", "/dev/full", code=1) as (line, process):
            with contextlib.suppress(ConnectionError):  # it may be gone before the answer is out
                self.request(line["port"], "GET", "/v1/models")
            process.wait(timeout=30)
        self.assertEqual(self.stderr, "tare: cannot write the request log '/dev/full' (No space left on device); what it "
                                      "counts is not complete\n")

    def test_a_reader_of_its_first_line_that_is_gone_ends_it(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = self.tare("serve", "provider", stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write to standard output (No space left on device)", result.stderr)

    def test_a_port_that_is_taken_is_refused(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            line = self.refused("serve", "provider", "--port", port)
        self.assertIn(f"cannot listen on 127.0.0.1:{port} (Address already in use)", line)

    def test_bad_flags_are_refused_in_one_line(self):
        for arguments, expected in [
            (["--port", "65536"], "--port must be 0 to 65535, got 65536"),
            (["--chunks", "0"], "--chunks must be 1 to 100000, got 0"),
            (["--chunk-delay-ms", "-1"], "--chunk-delay-ms must be 0 to 600000 milliseconds, got '-1'"),
            (["--fault", "stal"], "--fault 'stal' is not a fault (no fault 'stal'); known are stall, cut,"),
            (["--stamp", "yes"], "--stamp must be field or text, got 'yes'"),
            (["--bind", "0.0.0.0"], "--bind 0.0.0.0 is reachable from other machines; give --api-key as well"),
            (["--bind", "localhost"], "--bind takes an IP address, got 'localhost'"),
            (["--log", "no/such/folder"], "cannot open the request log 'no/such/folder' (No such file or directory)"),
            (["--api-key", ""], "--api-key is empty"),
            (["--text", ""], "--text is empty"),
            (["--nonsense"], "unknown flag '--nonsense'"),
            (["--port"], "--port needs a value"),
        ]:
            with self.subTest(arguments=arguments):
                self.assertIn(expected, self.refused("serve", "provider", *arguments))

    def test_help_has_examples(self):
        text = self.tare("serve", "provider", "--help").stdout
        for part in ["Examples:", "tare serve provider --port 8081", "[[marker:TEXT]]", "retry-after"]:
            self.assertIn(part, text)


if __name__ == "__main__":
    harness.main()
