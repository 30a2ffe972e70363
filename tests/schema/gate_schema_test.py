"""The schema of the gate document accepts what a gate writes and refuses what it never would."""

import pathlib
import unittest

import validate

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = validate.load(ROOT / "docs" / "gate.schema.json")
GOLDEN = validate.load(ROOT / "tests" / "golden" / "gate.json")


def result(document, verdict):
    return next(b for b in document["budgets"] if b["verdict"] == verdict and b["kind"] != "invariants")


class GateSchema(unittest.TestCase):
    def test_accepts_the_golden_document(self):
        self.assertEqual(list(validate.problems(SCHEMA, GOLDEN)), [])

    def test_refuses_what_is_wrong(self):
        wrong = {
            "another schema": lambda d: d.update(schema="tare.gate.v2"),
            "an unknown key": lambda d: d.update(passed=True),
            "no budget at all": lambda d: d.update(budgets=[]),
            "a gate that passed beside a budget that did not": lambda d: d.update(verdict="pass"),
            "a pass that was not measured": lambda d: result(d, "pass").update(measured=None),
            "a pass without an interval": lambda d: result(d, "pass").update(interval=None),
            "a fail without a reason": lambda d: result(d, "fail").update(reason=None),
            "an unmeasured figure without a reason": lambda d: result(d, "unmeasured").update(reason=None),
            "half an interval": lambda d: result(d, "fail").update(interval=[1]),
            "a verdict nobody knows": lambda d: result(d, "fail").update(verdict="unclear"),
            "a negative count": lambda d: d["counts"].update(fail=-1),
        }
        self.assertEqual(validate.taken(SCHEMA, GOLDEN, wrong), [])

    def test_every_field_is_explained(self):
        text = (ROOT / "docs" / "budgets.md").read_text(encoding="utf-8")
        self.assertEqual(validate.unexplained(SCHEMA, text), [])


if __name__ == "__main__":
    unittest.main()
