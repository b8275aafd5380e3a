"""How the tasks are laid out over replicas: the paper's Table 2."""

from functools import partial
from typing import Protocol

from orthrus_serving.scheduling.task import Task
from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.pool import Pool
from orthrus_serving.sim.replica_in_time import Told
from orthrus_serving.sim.request import SimulatedRequest
from orthrus_serving.sim.system_parts import PoolMaker


class System(Protocol):
    """Takes requests; `pools` are all that it is made of."""

    pools: list[Pool]

    def submit(self, request: SimulatedRequest) -> None: ...


class Unified:
    """Every replica serves both tasks."""

    def __init__(self, make_pool: PoolMaker, replicas: int, done: Told) -> None:
        self.pools = [make_pool(replicas, done)]

    def submit(self, request: SimulatedRequest) -> None:
        self.pools[0].submit(request)


class Dedicated:
    """A fixed split: some replicas only embed, the others only generate."""

    def __init__(self, make_pool: PoolMaker, embed: int, generate: int, done: Told) -> None:
        self.pools = [make_pool(embed, done), make_pool(generate, done)]

    def submit(self, request: SimulatedRequest) -> None:
        self.pools[request.task is Task.GENERATION].submit(request)


class Disaggregated:
    """Prompts and embeddings on some replicas, decodes on others.

    A prompt's keys and values travel to the decode replica in `seconds_per_token` each; it
    computes the first token's own and goes on.
    """

    def __init__(
        self,
        clock: Clock,
        make_pool: PoolMaker,
        prefill: int,
        decode: int,
        done: Told,
        *,
        seconds_per_token: float,
    ) -> None:
        self._clock = clock
        self._done = done
        self._seconds_per_token = seconds_per_token
        self._whole: dict[SimulatedRequest, SimulatedRequest] = {}
        self._prefill = make_pool(prefill, self._prefilled)
        self._decode = make_pool(decode, self._decoded)
        self.pools = [self._prefill, self._decode]

    def submit(self, request: SimulatedRequest) -> None:
        part = SimulatedRequest(request.task, request.prompt_tokens, min(1, request.output_tokens))
        self._whole[part] = request
        self._prefill.submit(part)

    def _prefilled(self, part: SimulatedRequest) -> None:
        request = self._whole.pop(part)
        request.first_output = part.first_output
        if request.output_tokens <= 1:
            self._finish(request)
            return
        prompt = request.prompt_tokens
        rest = SimulatedRequest(
            request.task, prompt + 1, request.output_tokens - 1, computed=prompt
        )
        self._whole[rest] = request
        travelled = self._clock.now + prompt * self._seconds_per_token
        self._clock.at(travelled, partial(self._decode.submit, rest))

    def _decoded(self, rest: SimulatedRequest) -> None:
        self._finish(self._whole.pop(rest))

    def _finish(self, request: SimulatedRequest) -> None:
        request.finished = self._clock.now
        self._done(request)
