"""What a step may still admit: rows, adapter slots and KV blocks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.task import Task

OVERTAKING_LIMIT = 16
"""A request that cannot run is overtaken at most this often, then those behind it wait too."""

BlocksNeeded = Callable[[Prefill, int], int]
"""KV blocks that a request needs to compute all that remains of it, given how many are free: an
upper bound will do while it is not above that number."""


@dataclass(frozen=True)
class Limits:
    """Bounds of the engine. `adapter_slots` is None without LoRA.

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


class Admission:
    """Admits requests for one step; each success uses up what it needs.

    Rows and adapters are counted over *all* running requests, scheduled in this step or not:
    a running request may be scheduled again in any later step beside those admitted now.

    Args:
        running: task and adapter of every running request.
        free_blocks: KV blocks that prefills may use; what decodes need is taken off already.
        decodes: number of running requests in decode.
    """

    def __init__(
        self,
        limits: Limits,
        running: Iterable[tuple[Task, int]],
        free_blocks: int,
        blocks_needed: BlocksNeeded,
        decodes: int = 0,
    ) -> None:
        self._limits = limits
        self._free_blocks = free_blocks
        self._blocks_needed = blocks_needed
        self._decodes = decodes
        self._rows = dict.fromkeys(Task, 0)
        self._adapters: dict[Task, set[int]] = {task: set() for task in Task}
        self._reserved: dict[Prefill, int] = {}
        for task, adapter in running:
            self._occupy(task, adapter)

    def resume(self, prefill: Prefill) -> bool:
        """Whether a partly run request may go on; the blocks for its rest are set aside.

        A chunk must not take its blocks from a decode. With no decode there is nothing to
        displace, and going on is the only way to free blocks.
        """
        needed = self._blocks_needed(prefill, self._free_blocks)
        fits = needed <= self._free_blocks
        self._free_blocks -= needed
        return fits or not self._decodes

    def reserve(self, prefill: Prefill) -> None:
        """Set free blocks aside for a request that was overtaken often enough, as far as they go.

        Whoever reserves first has the first claim, or two such requests could block each other.
        """
        needed = self._blocks_needed(prefill, self._free_blocks)
        self._reserved[prefill] = max(0, min(needed, self._free_blocks))
        self._free_blocks -= self._reserved[prefill]

    def admit(self, prefill: Prefill) -> bool:
        """Admit a waiting request if a row, its adapter and the blocks for all of it are free."""
        if not self._has_row(prefill.task) or not self._has_adapter(prefill):
            return False
        available = self._free_blocks + self._reserved.get(prefill, 0)
        needed = self._blocks_needed(prefill, available)
        if needed > available:
            return False
        self._reserved.pop(prefill, None)
        self._free_blocks = available - needed
        self._occupy(prefill.task, prefill.adapter)
        return True

    def _has_row(self, task: Task) -> bool:
        limits = self._limits
        return (
            sum(self._rows.values()) < limits.sequences
            and self._rows[task] < limits.sequences - limits.places_kept
        )

    def _has_adapter(self, prefill: Prefill) -> bool:
        slots, own = self._limits.adapter_slots, self._adapters[prefill.task]
        if slots is None or not prefill.adapter or prefill.adapter in own:
            return True
        loaded = set[int]().union(*self._adapters.values(), {prefill.adapter})
        return len(loaded) <= slots and len(own) < slots - self._limits.places_kept

    def _occupy(self, task: Task, adapter: int) -> None:
        self._rows[task] += 1
        if adapter:
            self._adapters[task].add(adapter)
