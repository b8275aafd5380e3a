"""`orthrus top`, which lives with the operator: it speaks to Kubernetes, not to a replica."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec


def top(arguments: Sequence[str]) -> int:
    """Runs it where its packages are installed; returns the exit status."""
    missing = [
        name for name in ("orthrus_operator", "kubernetes", "textual") if not find_spec(name)
    ]
    if missing:
        sys.stderr.write(
            f"orthrus top: {', '.join(missing)} is not installed; "
            "in a checkout of Orthrus: pip install '.[top]'\n"
        )
        return 1
    from orthrus_operator.top.command import top as run

    return run(arguments)
