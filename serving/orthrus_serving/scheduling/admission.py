"""What a step may still admit: rows, adapter slots and KV blocks."""

from collections.abc import Iterator, Mapping
from enum import Enum, auto

from orthrus_serving.scheduling.free_blocks import FreeBlocks
from orthrus_serving.scheduling.limits import OVERTAKING_LIMIT, Limits
from orthrus_serving.scheduling.prefill import Prefill
from orthrus_serving.scheduling.task import Task


class _Lack(Enum):
    """What keeps a request from running."""

    ROW = auto()
    ADAPTER_SLOT = auto()
    BLOCKS = auto()
    TURN = auto()
    """It would take what another one waits for that has been overtaken often enough."""


class Admission:
    """Admits requests for one step; each success uses up what it needs.

    Rows and adapters are counted over *all* running requests, scheduled in this step or not:
    a running request may be scheduled again in any later step beside those admitted now.

    A request that cannot run is overtaken by those admitted meanwhile that take what it lacks:
    any of them blocks, those of its queue that have an adapter a slot for one. Once it has been
    overtaken `OVERTAKING_LIMIT` times, no other of its queue may do so, and blocks are set aside.

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
        self._lacking: dict[Prefill, _Lack] = {}
        self._admitted = 0
        for (task, adapter), rows in running.items():
            self._occupy(task, adapter, rows)

    def resume(self, prefill: Prefill) -> bool:
        """Whether a partly run request may go on; the blocks for its rest are set aside then, or
        once it has been overtaken often enough.

        A chunk must not take its blocks from a decode. With no decode there is nothing to
        displace, and going on is the only way to free blocks.
        """
        needed = self._blocks.needed(prefill, self._free)
        goes_on = needed <= self._free or not self._blocks.decodes
        if goes_on or prefill.overtaken >= OVERTAKING_LIMIT:
            self._free -= needed
        else:
            self._lacking[prefill] = _Lack.BLOCKS
        return goes_on

    def reserve(self, prefill: Prefill) -> None:
        """Set blocks aside for a request that was overtaken often enough, as far as they go.

        Whoever reserves first has the first claim, or two such requests could block each other.
        """
        if self._has_slot(prefill):
            available = max(0, self._free - self._blocks.headroom)
            self._reserved[prefill] = min(self._blocks.needed(prefill, available), available)
            self._free -= self._reserved[prefill]

    def admit(self, prefill: Prefill) -> bool:
        """Admit a waiting request if its turn has come, and a row, its adapter and the blocks for
        all of it are free."""
        if lack := self._lack_of_place(prefill):
            self._lacking.setdefault(prefill, lack)
            return False
        reserved = self._reserved.get(prefill, 0)
        available = self._free + reserved - self._blocks.headroom
        needed = self._blocks.needed(prefill, available)
        if needed > available:
            if prefill not in self._lacking:  # a step may ask twice
                self._lacking[prefill] = _Lack.BLOCKS
                # Whatever was admitted before in this step may have taken them.
                prefill.overtaken += self._admitted
            return False
        self._free += self._reserved.pop(prefill, 0) - needed
        self._occupy(prefill.task, prefill.adapter)
        self._admitted += 1
        for other in self._overtaken_by(prefill):
            other.overtaken += 1
        return True

    def _lack_of_place(self, prefill: Prefill) -> _Lack | None:
        if not self._has_row(prefill.task):
            return _Lack.ROW
        if not self._has_adapter(prefill):
            return _Lack.ADAPTER_SLOT
        for other in self._overtaken_by(prefill):
            if other.overtaken >= OVERTAKING_LIMIT and self._share_a_queue(prefill, other):
                return _Lack.TURN
        return None

    def _overtaken_by(self, prefill: Prefill) -> Iterator[Prefill]:
        """Those that lack something which `prefill` takes when it is admitted."""
        for other, lack in self._lacking.items():
            if lack is _Lack.BLOCKS or (
                lack is _Lack.ADAPTER_SLOT
                and prefill.adapter
                and self._share_a_queue(prefill, other)
            ):
                yield other

    def _share_a_queue(self, prefill: Prefill, other: Prefill) -> bool:
        """Without places kept for each task, both are served in one order."""
        return prefill.task is other.task or not self._limits.places_kept

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
