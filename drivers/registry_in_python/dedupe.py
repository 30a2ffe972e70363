"""Which of several runs of a child counts."""


def newest_per_child(runs):
    """Of each child session the run of the newest generation, in the order in which the sessions come first."""
    newest = {}
    for run in runs:
        known = newest.setdefault(run.child, run)
        if run.generation > known.generation:
            newest[run.child] = run  # keeps its place
    return list(newest.values())
