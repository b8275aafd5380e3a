"""Parts of simulations that several tests use."""

from dataclasses import dataclass, field, replace
from random import Random

from orthrus_serving.scheduling.task import Task
from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.front_end import FrontEndCost
from orthrus_serving.sim.kv_space import KvSpace
from orthrus_serving.sim.lengths import Fixed, Uniform
from orthrus_serving.sim.linear_cost import LinearCost
from orthrus_serving.sim.mix import Mix
from orthrus_serving.sim.pool import ReplicaKind
from orthrus_serving.sim.replica_settings import ReplicaSettings
from orthrus_serving.sim.request import SimulatedRequest
from orthrus_serving.sim.step_cost import StepCost
from orthrus_serving.sim.step_load import StepLoad
from orthrus_serving.sim.system_parts import PoolParts

E, G = Task.EMBEDDING, Task.GENERATION

SETTINGS = ReplicaSettings(KvSpace(100_000), token_budget=256, chunk_tokens=64, sequences=32)
COST = LinearCost(step=0.010, chunk_token=0.000_1, decode_token=0.000_2)
MIXED = Mix(0.5, Uniform(1, 300), Uniform(1, 300), Uniform(1, 60))


def embedding(tokens: int) -> SimulatedRequest:
    return SimulatedRequest(E, tokens, 0)


def generation(prompt: int, output: int) -> SimulatedRequest:
    return SimulatedRequest(G, prompt, output)


@dataclass
class Observed:
    """A cost that keeps what it was asked about."""

    cost: StepCost = COST
    loads: list[StepLoad] = field(default_factory=list)

    def seconds(self, load: StepLoad) -> float:
        self.loads.append(replace(load))
        return self.cost.seconds(load)


def pool_parts(
    clock: Clock,
    settings: ReplicaSettings = SETTINGS,
    cost: StepCost = COST,
    router: str = "round-robin",
    front_end: FrontEndCost | None = None,
) -> PoolParts:
    kind = ReplicaKind(settings, cost, front_end or FrontEndCost())
    return PoolParts(clock, kind, router, Random(7))  # noqa: S311


def fixed_mix(share: float, embedding: int, prompt: int, output: int) -> Mix:
    return Mix(share, Fixed(embedding), Fixed(prompt), Fixed(output))
