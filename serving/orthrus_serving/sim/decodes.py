"""Generations past their prompt, at the same cost per step for any number of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from orthrus_serving.scheduling.prefill import Prefill


@dataclass(slots=True)
class Decode:
    """`end`: the step of decodes with which it is done; `origin`: its context at step 0."""

    end: int
    origin: int
    prefill: Prefill
    removed: bool = False

    def __lt__(self, other: "Decode") -> bool:
        return (self.end, self.prefill.arrival) < (other.end, other.prefill.arrival)


class Decodes:
    """All of them advance together, so the steps taken so far tell the state of each.

    A request's context grows by one a step; it needs a block whenever its context fills the
    blocks that it has. Requests are counted by the step, modulo the block size, at which they do.
    """

    def __init__(self, block_size: int) -> None:
        self._block_size = block_size
        self._taken = 0
        self._heap: list[Decode] = []
        self._live: dict[Prefill, Decode] = {}
        self._phases = [0] * block_size
        self.context = 0
        """Tokens before the next ones of all requests."""
        self.blocks = 0

    def __len__(self) -> int:
        return len(self._live)

    def __iter__(self) -> Iterator[tuple[Prefill, int]]:
        """Each request with its context."""
        return ((p, d.origin + self._taken) for p, d in self._live.items())

    def add(self, prefill: Prefill, context: int, steps: int) -> None:
        """`context` tokens are computed; `steps` are to come."""
        decode = Decode(self._taken + steps, context - self._taken, prefill)
        heappush(self._heap, decode)
        self._live[prefill] = decode
        self._phases[-decode.origin % self._block_size] += 1
        self.context += context
        self.blocks += self._held(context)

    def remove(self, prefill: Prefill) -> tuple[int, int]:
        """Take a request out; returns its context and the steps that it still needs."""
        decode = self._live.pop(prefill)
        decode.removed = True
        context = decode.origin + self._taken
        self._phases[-decode.origin % self._block_size] -= 1
        self.context -= context
        self.blocks -= self._held(context)
        return context, decode.end - self._taken

    def growth(self) -> int:
        """Blocks that the next step needs."""
        return self._phases[self._taken % self._block_size]

    def steps_alike(self, free_blocks: int) -> int:
        """How many steps go by before a request is done, or a block is missing."""
        steps = self._first_end() - self._taken
        rounds, left = divmod(free_blocks, max(1, len(self)))
        fitting = rounds * self._block_size
        while fitting < steps:
            left -= self._phases[(self._taken + fitting) % self._block_size]
            if left < 0:
                break
            fitting += 1
        return min(steps, fitting)

    def advance(self, steps: int = 1) -> list[Prefill]:
        """Take `steps` steps, no request being done before the last; returns those that are."""
        rounds, rest = divmod(steps, self._block_size)
        self.blocks += rounds * len(self)
        for step in range(self._taken, self._taken + rest):
            self.blocks += self._phases[step % self._block_size]
        self._taken += steps
        self.context += steps * len(self)
        done: list[Prefill] = []
        while self._heap and (self._heap[0].removed or self._heap[0].end == self._taken):
            decode = heappop(self._heap)
            if not decode.removed:
                done.append(decode.prefill)
        for prefill in done:
            self.remove(prefill)
        return done

    def _first_end(self) -> int:
        while self._heap[0].removed:
            heappop(self._heap)
        return self._heap[0].end

    def _held(self, context: int) -> int:
        return -(-context // self._block_size)
