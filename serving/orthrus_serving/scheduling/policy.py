"""The seam between the engine and a batch policy."""

from typing import Protocol

from orthrus_serving.scheduling.step import Step, StepPlan


class BatchPolicy(Protocol):
    """Decides who gets how many tokens of a step; may keep state from step to step."""

    places_kept: int
    """Rows and adapter slots that each task leaves to the other."""

    def plan(self, step: Step) -> StepPlan: ...
