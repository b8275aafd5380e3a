"""What the queue hands to the reconciler, and what it gets back."""

from enum import Enum, auto
from typing import NamedTuple


class ObjectKey(NamedTuple):
    """Which OrthrusDeployment."""

    namespace: str
    name: str


class Outcome(Enum):
    """When to look at the object again."""

    DONE = auto()
    """At the next event or resync."""
    RETRY = auto()
    """Soon: something is in the way that may go without an event."""
    GONE = auto()
    """Never: it is deleted, and the garbage collector does the rest."""
