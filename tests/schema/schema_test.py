"""The schema of the run document accepts what the report writes and refuses what it never would."""

import copy
import pathlib
import unittest

import validate

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = validate.load(ROOT / "docs" / "run.schema.json")
GOLDEN = validate.load(ROOT / "tests" / "golden" / "report_run.json")
GATEWAYS = validate.load(ROOT / "tests" / "golden" / "report_gateway.json")


def break_it(change):
    document = copy.deepcopy(GOLDEN)
    change(document)
    return list(validate.problems(SCHEMA, document))


class RunSchema(unittest.TestCase):
    def test_accepts_the_golden_document(self):
        self.assertEqual(list(validate.problems(SCHEMA, GOLDEN)), [])

    def test_accepts_the_records_of_gateways_and_histograms(self):
        self.assertEqual(list(validate.problems(SCHEMA, GATEWAYS)), [])
        self.assertIsNotNone(GATEWAYS["gateways"])
        metrics = [row["metrics"].get("total") for row in GATEWAYS["rows"]]
        self.assertTrue(any(metric and metric["histogram"] for metric in metrics))

    def test_refuses_wrong_records_of_gateways(self):
        wrong = {
            "an unknown figure": lambda d: d["gateways"][0]["summary"].update(gatewayMood=1),
            "a figure without a count": lambda d: d["gateways"][0]["summary"]["readyzLatencyMs"].pop("count"),
            "a pace nobody knows": lambda d: d["gateways"][0]["runs"][0]["probeWorkload"].update(pace="brisk"),
            "half a bucket": lambda d: next(
                row["metrics"]["total"]["histogram"]["counts"].__setitem__(0, [1])
                for row in d["rows"]
                if row["row"] == "sessions_list" and row["target"] == "embedded"
            ),
        }
        self.assertEqual(validate.taken(SCHEMA, GATEWAYS, wrong), [])

    def test_names_the_place_of_a_problem(self):
        self.assertRegex(break_it(lambda d: d["rows"][0].update(status="fine"))[0], r"^rows\[0\]\.status: 'fine'")

    def test_refuses_what_is_wrong(self):
        metric = GOLDEN["rows"][0]["metrics"]["total"]
        self.assertIn("p95", metric["summary"])
        wrong = {
            "another schema": lambda d: d.update(schema="tare.run.v2"),
            "an unknown key": lambda d: d.update(finishedat=None),
            "an unknown key of a summary": lambda d: d["rows"][0]["metrics"]["total"]["summary"].update(p42=1),
            "a missing key": lambda d: d.pop("seed"),
            "a text for a number": lambda d: d["rows"][0]["metrics"]["total"]["samples"].__setitem__(0, "1 ms"),
            "a negative count": lambda d: d["rows"][0]["metrics"]["total"]["summary"].update(count=-1),
            "half an interval": lambda d: d["rows"][0]["metrics"]["total"]["summary"].update(p50Interval=[1]),
            "a local time": lambda d: d.update(startedAt="2026-01-31 12:00"),
            "a null without a reason": lambda d: d["comparisons"][0].update(ratio=None, reason=None),
            "an unavailable row without a reason": lambda d: d["rows"][0].update(status="unavailable", reason=None),
            "a budget that passes unmeasured": lambda d: d["budgets"][0].update(measured=None),
            "an outcome nobody knows": lambda d: d["rows"][0]["metrics"]["total"]["outcome"].__setitem__(0, "lost"),
        }
        self.assertEqual(validate.taken(SCHEMA, GOLDEN, wrong), [])

    def test_every_field_is_explained(self):
        text = (ROOT / "docs" / "run-document.md").read_text(encoding="utf-8")
        self.assertEqual(validate.unexplained(SCHEMA, text), [])


if __name__ == "__main__":
    unittest.main()
