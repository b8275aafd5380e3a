"""What a step may still admit: rows, adapter slots and KV blocks."""

from collections.abc import Mapping
from enum import Enum, auto

from orthrus_serving.scheduling.free_blocks import FreeBlocks
from orthrus_serving.scheduling.limits import Limits
from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.task import Task


class Verdict(Enum):
    """Whether a waiting request may run, or what it lacks."""

    ADMITTED = auto()
    NO_SLOT = auto()
    """No row, or no slot for its adapter."""
    NO_BLOCKS = auto()


class Admission:
    """Admits requests for one step; each success uses up what it needs.

    Rows and adapters are counted over *all* running requests, scheduled in this step or not:
    a running request may be scheduled again in any later step beside those admitted now.

    Args:
        running: how many requests run, by task and adapter.
    """

    def __init__(
        self, limits: Limits, running: Mapping[tuple[Task, int], int], blocks: FreeBlocks
    ) -> None:
        self._limits = limits
        self._blocks = blocks
        self._free = blocks.count
        self._rows = dict.fromkeys(Task, 0)
        self._adapters: dict[Task, set[int]] = {task: set() for task in Task}
        self._reserved: dict[Prefill, int] = {}
        self._unfit: list[Prefill] = []
        self._admitted = 0
        for (task, adapter), rows in running.items():
            self._occupy(task, adapter, rows)

    def resume(self, prefill: Prefill) -> bool:
        """Whether a partly run request may go on; the blocks for its rest are set aside.

        A chunk must not take its blocks from a decode. With no decode there is nothing to
        displace, and going on is the only way to free blocks.
        """
        needed = self._blocks.needed(prefill, self._free)
        fits = needed <= self._free
        self._free -= needed
        return fits or not self._blocks.decodes

    def reserve(self, prefill: Prefill) -> None:
        """Set blocks aside for a request that was overtaken often enough, as far as they go.

        Whoever reserves first has the first claim, or two such requests could block each other.
        """
        if self._has_slot(prefill):
            available = max(0, self._free - self._blocks.headroom)
            self._reserved[prefill] = min(self._blocks.needed(prefill, available), available)
            self._free -= self._reserved[prefill]

    def admit(self, prefill: Prefill) -> Verdict:
        """Admit a waiting request if a row, its adapter and the blocks for all of it are free.

        One that lacks blocks counts as overtaken by every admission of the step, whatever the
        task: any of them may take the blocks that it waits for.
        """
        if not self._has_slot(prefill):
            return Verdict.NO_SLOT
        reserved = self._reserved.get(prefill, 0)
        available = self._free + reserved - self._blocks.headroom
        needed = self._blocks.needed(prefill, available)
        if needed > available:
            if prefill not in self._unfit:  # a step may ask twice
                prefill.overtaken += self._admitted
                self._unfit.append(prefill)
            return Verdict.NO_BLOCKS
        self._free += self._reserved.pop(prefill, 0) - needed
        self._occupy(prefill.task, prefill.adapter)
        self._admitted += 1
        for unfit in self._unfit:
            unfit.overtaken += 1
        return Verdict.ADMITTED

    def _has_slot(self, prefill: Prefill) -> bool:
        return self._has_row(prefill.task) and self._has_adapter(prefill)

    def _has_row(self, task: Task) -> bool:
        rows, kept = self._limits.sequences, self._limits.places_kept
        return sum(self._rows.values()) < rows and self._rows[task] < rows - kept

    def _has_adapter(self, prefill: Prefill) -> bool:
        slots, own = self._limits.adapter_slots, self._adapters[prefill.task]
        if slots is None or not prefill.adapter or prefill.adapter in own:
            return True
        loaded = set[int]().union(*self._adapters.values(), {prefill.adapter})
        return len(loaded) <= slots and len(own) < slots - self._limits.places_kept

    def _occupy(self, task: Task, adapter: int, rows: int = 1) -> None:
        self._rows[task] += rows
        if adapter:
            self._adapters[task].add(adapter)
