"""Bounds of an engine on what runs at once."""

from dataclasses import dataclass

OVERTAKING_LIMIT = 16
"""A request that cannot run is overtaken at most this often; then those behind it wait that would
take what it lacks. It is also how many of a queue a step looks past."""


@dataclass(frozen=True)
class Limits:
    """Rows of a batch, and adapter slots (None without LoRA).

    `places_kept`: rows, and adapter slots, that a task leaves to the other, so that long decodes
    cannot shut embeddings out, nor the reverse.

    Raises:
        ValueError: a bound leaves no place for one of the tasks.
    """

    sequences: int
    adapter_slots: int | None = None
    places_kept: int = 1

    def __post_init__(self) -> None:
        if self.sequences <= self.places_kept:
            raise ValueError(
                f"max_num_seqs is {self.sequences}, but each task keeps one row: "
                "set it to 2 or more"
            )
        if self.adapter_slots is not None and self.adapter_slots <= self.places_kept:
            raise ValueError(
                f"max_loras is {self.adapter_slots}, but each task keeps one adapter slot: "
                "set it to 2 or more"
            )
