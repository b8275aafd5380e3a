"""All requests of a run: which, in which order."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthrus_serving.bench.work.interleave import interleave
from orthrus_serving.bench.work.mix import Unit, request_share
from orthrus_serving.bench.work.phases import Phase
from orthrus_serving.bench.work.prompts import Prompts
from orthrus_serving.bench.work.request import Request
from orthrus_serving.scheduling.task import Task

_NONCES = 2**32


def drawn_nonce() -> int:
    """One that no other run has."""
    return secrets.randbelow(_NONCES)


@dataclass(frozen=True)
class Workload:
    """Prompts of each task, mixed as each phase says; `seed` and `nonce` fix them all."""

    prompts: Mapping[Task, Prompts]
    phases: Sequence[Phase]
    unit: Unit
    seed: int
    """Order and lengths."""
    nonce: int = 0
    """Token ids: with another one the work is as heavy, and no server has it in a cache."""

    def __post_init__(self) -> None:
        for phase in self.phases:
            for task, wanted in (
                (Task.GENERATION, phase.mix.generation > 0),
                (Task.EMBEDDING, phase.mix.generation < 1),
            ):
                if wanted and task not in self.prompts:
                    raise ValueError(
                        f"mix {phase.mix} needs {task.value} prompts, and there are none"
                    )

    @property
    def seconds(self) -> float:
        return sum(phase.seconds for phase in self.phases)

    def requests(self, phase: int) -> Iterator[Request]:
        """Requests of one phase, without end."""
        order = interleave(self._generation_share(phase), self._rng(phase, 0))
        drawn = {
            task: prompts.requests(self._rng(phase, number), self._rng(phase, number, self.nonce))
            for number, (task, prompts) in enumerate(self.prompts.items(), start=1)
        }
        return (next(drawn[task]) for task in order)

    def tasks(self) -> set[Task]:
        """The tasks that any phase has."""
        shares = [phase.mix.generation for phase in self.phases]
        return {
            task
            for task, wanted in (
                (Task.EMBEDDING, min(shares) < 1),
                (Task.GENERATION, max(shares) > 0),
            )
            if wanted
        }

    def _generation_share(self, phase: int) -> float:
        share = self.phases[phase].mix.generation
        if self.unit is Unit.REQUESTS or share in {0, 1}:
            return share
        return request_share(
            share,
            self.unit,
            self.prompts[Task.EMBEDDING].mean_tokens,
            self.prompts[Task.GENERATION].mean_tokens,
        )

    def _rng(self, *parts: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *parts])
