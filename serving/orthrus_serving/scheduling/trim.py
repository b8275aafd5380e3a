"""How far an inter-token target cuts the chunks of one step."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Trim:
    """At most `tokens` for all chunks, but never less than `floor` for each task with work.

    The floor of a step shrinks to the same number: a target cannot be met by a floor that is
    a multiple of what it allows.
    """

    tokens: int
    floor: int
