"""A registry of agent runs on Python's own SQLite: a peer of the built-in one, with the same promises."""
