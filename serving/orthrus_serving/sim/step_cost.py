"""The seam between a simulated replica and the time that its steps take."""

from typing import Protocol

from orthrus_serving.sim.step_load import StepLoad


class StepCost(Protocol):
    """Seconds of a step.

    For steps of a given number of decodes and nothing else they are affine in the context, so
    that a run of such steps can be added up in one go.
    """

    def seconds(self, load: StepLoad) -> float: ...
