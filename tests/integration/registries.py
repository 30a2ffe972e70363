"""Registries of agent runs that only pretend, so that what is tested is the bench."""

import harness


def fake_registry(*arguments):
    return " ".join([harness.PYTHON, "-B", str(harness.DRIVERS / "fake_registry.py"), *arguments])


class AgentsTest(harness.TareTest):
    """The reference lane `node` is a fake one: a prefix whose node is not a node."""

    def setUp(self):
        super().setUp()
        node = self.folder / "prefix" / "bin" / "node"
        node.parent.mkdir(parents=True)
        node.write_text(f"#!/bin/sh\nexec {fake_registry()}\n")
        node.chmod(0o755)
        self.lanes = ["--targets", "node", "--node", str(self.folder / "prefix")]

    def agents(self, *arguments, **options):
        return self.tare("agents", *self.lanes, *arguments, **options)

    def document(self, name="out/agents.json"):
        return super().document(name)
