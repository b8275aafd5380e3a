"""Which server gets a request."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orthrus_serving.scheduling.task import Task


@dataclass(frozen=True)
class Target:
    """Servers of one task, and the name that its model has there."""

    urls: Sequence[str]
    """Without `/v1`; requests go to each in turn."""
    model: str


class Addresses:
    """The next server of each task."""

    def __init__(self, targets: Mapping[Task, Target]) -> None:
        self._targets = targets
        self._turns = {task: itertools.cycle(target.urls) for task, target in targets.items()}

    def model(self, task: Task) -> str:
        return self._targets[task].model

    def next(self, task: Task) -> str:
        return next(self._turns[task])


def without_v1(url: str) -> str:
    """People give the address of a server in both forms."""
    return url.rstrip("/").removesuffix("/v1")
