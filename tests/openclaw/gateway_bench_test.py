"""`tare gateway` on the real OpenClaw, beside the built-in gateway.

Needs npm's openclaw where Tare keeps what it installs. Without it, it says so and is skipped."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

import harness  # noqa: E402

SKIPPED = 77  # what CTest shows as skipped


class RealGateway(harness.TareTest):
    def bench(self, *arguments):
        result = self.tare("gateway", "--output", "out.json", "--concurrency", 2, "--stream-chunk-delay-ms", 0, *arguments, timeout=400)
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.document("out.json")
        self.assertTrue(document["complete"])
        self.assertEqual(document["invariants"]["failures"], [])
        return document, result.stderr

    def test_beside_the_built_in_one(self):
        document, report = self.bench("--targets", "embedded,openclaw", "--warm-turns", 1, "--control-plane", "--session-count", 3,
                                      "--history-messages", 2, "--history-clients", 1, "--subscribers", 1, "--session-updates", 4,
                                      "--visible-observer", "--plugin-count", 2)
        self.assertIn("÷ openclaw", report)
        for target in ("embedded", "openclaw"):
            for row in ("turns", "readyz", "control_ui", "sessions_list", "chat_history", "messages_subscribe", "sessions_patch",
                        "tasks_list", "cron_list", "cron_status", "fresh_connection", "server"):
                self.assertEqual(self.row(document, row, target)["status"], "ok", f"{row} on {target}")
            turns = self.row(document, "turns", target)
            self.assertEqual(turns["metrics"]["total"]["summary"]["count"], 2)
            self.assertEqual({one["id"]: one["broken"] for one in turns["invariants"] if one["broken"]}, {})
            self.assertEqual(self.row(document, "sessions_patch", target)["metrics"]["total"]["summary"]["count"], 4)
        record = next(one for one in document["gateways"] if one["target"] == "openclaw")
        (run,) = record["runs"]
        self.assertEqual(run["modelRequestCount"], 2)
        self.assertTrue(run["gatewayProcess"]["clean"])
        self.assertGreater(run["memory"]["after"]["heapUsedMb"], 50)
        self.assertGreater(record["summary"]["gatewayProcessCpuMsPerTurn"]["p50"], 10)
        ratio = next(one for one in document["comparisons"] if (one["row"], one["metric"], one["quantile"]) == ("server", "rss_peak", "p50"))
        self.assertLess(ratio["ratio"], 0.2)

    def test_tools_really_run(self):
        document, _ = self.bench("--target", "openclaw", "--warm-turns", 0, "--tool-events")
        checked = {one["id"]: one["checked"] for one in self.row(document, "turns", "openclaw")["invariants"]}
        self.assertEqual(checked["tool_ran"], 2)
        self.assertEqual(document["gateways"][0]["runs"][0]["modelRequestCount"], 4)


if __name__ == "__main__":
    import subprocess

    targets = subprocess.run([str(harness.TARE), "targets"], capture_output=True, text=True, check=True).stdout
    if not any(line.split()[:3] == ["gateway", "openclaw", "subject"] and " available" in line for line in targets.splitlines()):
        print("OpenClaw is not installed: `tare targets install openclaw`", file=sys.stderr)
        sys.exit(SKIPPED)
    harness.main()
