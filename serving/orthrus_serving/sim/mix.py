"""What kind of requests a load consists of."""

from dataclasses import dataclass
from random import Random

from orthrus_serving.scheduling.task import Task
from orthrus_serving.sim.lengths import Lengths
from orthrus_serving.sim.request import SimulatedRequest


@dataclass(frozen=True)
class Mix:
    """Each request is an embedding with probability `embedding_share`, whatever came before."""

    embedding_share: float
    embedding: Lengths
    prompt: Lengths
    output: Lengths

    def __post_init__(self) -> None:
        if not 0 <= self.embedding_share <= 1:
            raise ValueError(f"the embedding share is {self.embedding_share}: 0 to 1 is possible")

    def draw(self, random: Random) -> SimulatedRequest:
        if random.random() < self.embedding_share:
            return SimulatedRequest(Task.EMBEDDING, self.embedding.draw(random), 0)
        return SimulatedRequest(Task.GENERATION, self.prompt.draw(random), self.output.draw(random))
