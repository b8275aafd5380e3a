"""The simulated replica takes the very steps of the engine's scheduler: `EngineCore`'s loop over
vLLM's scheduler with our plans, of which only the model is left out.
"""

import random

import pytest

from orthrus_serving.scheduling.policies import POLICY_NAMES
from orthrus_serving.sim.kv_space import KvSpace
from orthrus_serving.sim.replica import Replica
from orthrus_serving.sim.replica_settings import ReplicaSettings
from orthrus_serving.sim.request import SimulatedRequest
from tests.orthrus_serving.engine.scheduler_loop import (
    BLOCK_SIZE,
    EngineLoop,
    LoopConfig,
    RequestMaker,
)
from tests.orthrus_serving.sim.making import Observed, embedding, generation

ROOMY, TIGHT = 400, 40
"""KV blocks: enough for all, and few enough that requests wait for them."""


class Pair:
    """An engine loop and a simulated replica that are sent the same requests."""

    def __init__(self, policy: str, blocks: int) -> None:
        config = LoopConfig(policy=policy, blocks=blocks)
        self.loop = EngineLoop(config)
        self.observed = Observed()
        self.replica = Replica(
            ReplicaSettings(
                # vLLM keeps one block for itself.
                KvSpace((blocks - 1) * BLOCK_SIZE, BLOCK_SIZE),
                policy,
                config.token_budget,
                config.chunk_tokens,
                config.min_opportunities,
                config.sequences,
            ),
            self.observed,
        )
        self.names: dict[SimulatedRequest, str] = {}
        self._maker = RequestMaker()

    def embed(self, tokens: int) -> None:
        self._send(embedding(tokens))

    def generate(self, prompt: int, output: int) -> None:
        self._send(generation(prompt, output))

    def _send(self, request: SimulatedRequest) -> None:
        if request.output_tokens:
            real = self._maker.generation(request.prompt_tokens, request.output_tokens)
        else:
            real = self._maker.embedding(request.prompt_tokens)
        self.names[request] = real.request_id
        self.loop.add(real)
        self.replica.submit(request)

    def step(self) -> bool:
        """One step of both, which must hold the same and end the same requests.

        Returns whether somebody was preempted. From that step on they differ: vLLM may pause the
        decodes behind the victim in it, and who comes back finds blocks in the prefix cache.
        """
        ended = set(self.loop.finished)
        record = self.loop.step()
        outputs = self.replica.step()
        assert bool(record.preempted) == (self.replica.totals.preemptions > 0)
        if record.preempted:
            return True
        load = self.observed.loads[-1]
        decoded = sum(record.tokens.get(name, 0) for name in record.decodes)
        assert load.decode_tokens == decoded
        assert load.chunk_tokens == record.total - decoded
        answered = {self.names[r] for r in (*outputs.embedded, *outputs.generated)}
        assert answered == set(self.loop.finished) - ended
        return False


@pytest.mark.parametrize("policy", POLICY_NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_every_step_is_the_engines(policy: str, seed: int) -> None:
    pair = Pair(policy, ROOMY)
    assert not play(pair, seed)
    assert not pair.loop.scheduler.has_unfinished_requests()
    assert len(pair.loop.finished) == len(pair.names)


@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_so_is_every_step_up_to_a_preemption(policy: str) -> None:
    preempted = [play(Pair(policy, TIGHT), seed) for seed in range(6)]
    assert any(preempted)


def play(pair: Pair, seed: int) -> bool:
    """Send requests at random times; ends with a preemption, or when all are answered."""
    draw = random.Random(seed)  # noqa: S311
    for moment in range(2_000):
        for _ in range(draw.choice([0, 0, 1, 3]) if moment < 60 else 0):
            if draw.random() < 0.5:
                pair.embed(draw.randint(1, 120))
            else:
                pair.generate(draw.randint(1, 90), draw.randint(1, 24))
        if not pair.replica.idle:
            if pair.step():
                return True
        elif moment >= 60:
            return False
    raise AssertionError("requests do not end")
