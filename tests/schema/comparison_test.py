"""The schema of a comparison accepts what `tare compare` writes and refuses what it never would."""

import pathlib
import unittest

import validate

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = validate.load(ROOT / "docs" / "comparison.schema.json")
GOLDEN = validate.load(ROOT / "tests" / "golden" / "compare.json")


def entries(document, change):
    return [e for e in document["comparisons"][0]["entries"] if e["change"] == change]


class ComparisonSchema(unittest.TestCase):
    def test_accepts_the_golden_document(self):
        self.assertEqual(list(validate.problems(SCHEMA, GOLDEN)), [])

    def test_the_golden_document_has_every_change(self):
        for change in ("better", "worse", "same", "unclear", "missing"):
            self.assertNotEqual(entries(GOLDEN, change), [], change)

    def test_refuses_what_is_wrong(self):
        wrong = {
            "another schema": lambda d: d.update(schema="tare.comparison.v2"),
            "a run document's schema": lambda d: d.update(schema="tare.run.v1"),
            "an unknown key": lambda d: d.update(verdict="pass"),
            "a missing key": lambda d: d.pop("tolerance"),
            "a tolerance in percent": lambda d: d.update(tolerance=50),
            "a comparison with nothing": lambda d: d.update(comparisons=[]),
            "a text for a ratio": lambda d: entries(d, "same")[0].update(ratio="1.05"),
            "half an interval": lambda d: entries(d, "same")[0].update(interval=[1]),
            "a probability above 1": lambda d: entries(d, "same")[0].update(p=1.5),
            "a delta above 1": lambda d: entries(d, "same")[0].update(effectSize=1.2),
            "a quantile that is none": lambda d: entries(d, "same")[0].update(quantile="mean"),
            "a change nobody knows": lambda d: entries(d, "same")[0].update(change="slower"),
            "a pass that is worse": lambda d: entries(d, "worse")[0].update(verdict="pass"),
            "a failure that is the same": lambda d: entries(d, "same")[0].update(verdict="fail"),
            "a pass without a figure": lambda d: entries(d, "missing")[0].update(verdict="pass"),
            "an unmeasured entry that is the same": lambda d: entries(d, "same")[0].update(verdict="unmeasured"),
            "a missing entry without a reason": lambda d: entries(d, "missing")[0].update(reason=None),
            "an unclear entry without a reason": lambda d: entries(d, "unclear")[0].update(reason=None),
            "a null ratio without a reason": lambda d: entries(d, "same")[0].update(ratio=None, reason=None),
        }
        self.assertEqual(validate.taken(SCHEMA, GOLDEN, wrong), [])

    def test_every_field_is_explained(self):
        text = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
        self.assertEqual(validate.unexplained(SCHEMA, text), [])


if __name__ == "__main__":
    unittest.main()
