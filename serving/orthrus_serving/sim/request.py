"""A request of the simulation, and when things happened to it."""

from dataclasses import dataclass
from math import nan

from orthrus_serving.scheduling.task import Task


@dataclass(eq=False, slots=True)
class SimulatedRequest:
    """`output_tokens` is 0 for an embedding and at least 1 for a generation.

    `computed`: tokens of the prompt whose keys and values another replica has sent.
    """

    task: Task
    prompt_tokens: int
    output_tokens: int
    computed: int = 0
    arrived: float = nan
    first_output: float = nan
    finished: float = nan
