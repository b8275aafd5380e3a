"""Iterations of the packing simulation."""

from collections import deque
from dataclasses import dataclass
from random import Random

from orthrus_serving.sim.packing.settings import FULL_ITERATION_SECONDS, LeftOut, Stated

_LOOK_PAST = 64
"""Requests that an iteration looks at behind one that does not fit."""


@dataclass(slots=True)
class _Waiting:
    embedding: bool
    left: int
    divisible: bool


@dataclass(frozen=True)
class Packed:
    """`fill`: the average over iterations with any token of the share of the budget in use."""

    fill: float
    generations_per_second: float
    embeddings_per_second: float
    iterations: int


class Packing:
    """One condition: `chunked` splits embeddings into chunks, otherwise they run whole."""

    def __init__(self, stated: Stated, left_out: LeftOut, chunked: bool, random: Random) -> None:
        self._stated = stated
        self._left_out = left_out
        self._chunked = chunked
        self._random = random
        self._queue: deque[_Waiting] = deque()
        self._decodes: list[int] = []
        self._now = 0.0
        self._next_arrival = 0.0
        self._generated = self._embedded = 0
        self._prefilling = 0

    def run(self, iterations: int) -> Packed:
        used = 0
        if self._left_out.arrivals == "closed":
            for _ in range(int(self._left_out.load)):
                self._arrive()
        for _ in range(iterations):
            self._receive()
            used += self._iterate()
        return Packed(
            used / (iterations * self._stated.budget),
            self._generated / self._now,
            self._embedded / self._now,
            iterations,
        )

    def _iterate(self) -> int:
        budget = self._stated.budget
        left = budget - self._decode(budget)
        left -= self._admit(left)
        used = budget - left
        share = used / budget if self._left_out.time_by_tokens else 1.0
        self._now += share * FULL_ITERATION_SECONDS
        return used

    def _decode(self, budget: int) -> int:
        """One step of as many decodes as fit, the oldest first."""
        charge = self._left_out.charge
        stepping = min(len(self._decodes), budget // charge)
        for index in range(stepping):
            self._decodes[index] -= 1
        before = len(self._decodes)
        self._decodes = [steps for steps in self._decodes if steps]
        self._end(before - len(self._decodes), embedding=False)
        return stepping * charge

    def _admit(self, budget: int) -> int:
        left = budget
        passed: list[_Waiting] = []
        while left and self._queue and len(passed) < _LOOK_PAST:
            head = self._queue.popleft()
            tokens = self._tokens_for(head, left)
            left -= tokens
            head.left -= tokens
            if not head.left:
                self._prefilled(head)
                continue
            passed.append(head)
            had_its_chunk = tokens and head.embedding and self._left_out.chunks == "one"
            if self._left_out.strict and not had_its_chunk:
                break
        self._queue.extendleft(reversed(passed))
        return budget - left

    def _tokens_for(self, waiting: _Waiting, left: int) -> int:
        limit = self._left_out.running
        begun = waiting.left < self._stated.prompt
        if not waiting.embedding and limit and not begun and self._running >= limit:
            return 0
        if not waiting.divisible and waiting.left > left:
            return 0
        alone = self._left_out.alone and waiting.embedding and not waiting.divisible
        if alone and left < self._stated.budget:
            return 0
        if waiting.embedding:
            return self._chunks(waiting.left, left) if waiting.divisible else waiting.left
        if not begun:
            self._prefilling += 1
        return min(waiting.left, left)

    def _chunks(self, wanted: int, left: int) -> int:
        """Tokens of the chunks of one embedding that an iteration takes."""
        if self._left_out.chunks == "cut":
            return min(wanted, left)
        most = 1 if self._left_out.chunks == "one" else wanted
        taken = 0
        for _ in range(most):
            chunk = min(self._stated.chunk, wanted - taken)
            if not chunk or chunk > left - taken:
                break
            taken += chunk
        return taken

    @property
    def _running(self) -> int:
        return len(self._decodes) + self._prefilling

    def _prefilled(self, waiting: _Waiting) -> None:
        if waiting.embedding:
            self._end(1, embedding=True)
            return
        self._prefilling -= 1
        self._decodes.append(self._stated.decode // self._stated.decode_step)

    def _end(self, count: int, *, embedding: bool) -> None:
        if embedding:
            self._embedded += count
        else:
            self._generated += count
        if self._left_out.arrivals == "closed":
            for _ in range(count):
                self._arrive()

    def _receive(self) -> None:
        """Poisson arrivals up to now; with nothing to do, time goes on to the next one."""
        if self._left_out.arrivals == "closed":
            return
        while not (self._queue or self._decodes) or self._next_arrival <= self._now:
            self._now = max(self._now, self._next_arrival)
            self._arrive()
            self._next_arrival += self._random.expovariate(self._rate)

    @property
    def _rate(self) -> float:
        stated = self._stated
        embedding = stated.short + stated.long_share * (stated.long - stated.short)
        steps = stated.decode // stated.decode_step
        generation = stated.prompt + steps * self._left_out.charge
        share = stated.generation_share
        tokens = share * generation + (1 - share) * embedding
        return self._left_out.load * stated.budget / FULL_ITERATION_SECONDS / tokens

    def _arrive(self) -> None:
        stated = self._stated
        if self._random.random() < stated.generation_share:
            whole = self._left_out.whole_prompts
            self._queue.append(_Waiting(False, stated.prompt, not whole))
        else:
            is_long = self._random.random() < stated.long_share
            tokens = stated.long if is_long else stated.short
            self._queue.append(_Waiting(True, tokens, self._chunked))
