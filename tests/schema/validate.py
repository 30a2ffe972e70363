"""Validates JSON documents against a JSON Schema: validate.py SCHEMA FILE...

Prints one line a problem, with its place, and ends with 1 if there was any.
"""

import copy
import json
import re
import sys

import jsonschema


def problems(schema, document):
    """Every way in which a document breaks the schema: "rows[0].status: 'fine' is not one of …"."""
    validator = jsonschema.validators.validator_for(schema)(schema)
    for error in sorted(validator.iter_errors(document), key=lambda e: [str(step) for step in e.absolute_path]):
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
        yield f"{place.lstrip('.') or '(document)'}: {error.message[:200]}"


def load(path):
    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=refuse)


def unexplained(schema, text):
    """Fields of the schema that a text does not name in `code`."""
    explained = set(re.findall(r"`([A-Za-z0-9]+)`", text))
    shapes = [schema, *schema["$defs"].values()]
    return sorted({name for shape in shapes for name in shape.get("properties", {})} - explained)


def taken(schema, document, changes):
    """The names of those changes that leave the document valid."""
    kept = []
    for name, change in changes.items():
        changed = copy.deepcopy(document)
        change(changed)
        if not list(problems(schema, changed)):
            kept.append(name)
    return kept


def main(arguments):
    if len(arguments) < 2:
        print("usage: validate.py SCHEMA FILE...", file=sys.stderr)
        return 2
    schema = load(arguments[0])
    jsonschema.validators.validator_for(schema).check_schema(schema)
    status = 0
    for path in arguments[1:]:
        try:
            found = list(problems(schema, load(path)))
        except (OSError, ValueError) as error:
            found = [str(error)]
        for problem in found:
            print(f"{path}: {problem}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
