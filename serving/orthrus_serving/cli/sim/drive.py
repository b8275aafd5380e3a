"""A load that varies, so that the costs of steps and tokens can be told apart."""

from collections.abc import Iterator
from dataclasses import dataclass

from orthrus_serving.bench.load.clients import ClientSet
from orthrus_serving.bench.load.load import TimedClients
from orthrus_serving.bench.load.run import Servers, run
from orthrus_serving.bench.load.steady import Bounds
from orthrus_serving.bench.work.lengths import parse_lengths
from orthrus_serving.bench.work.mix import Unit, parse_mix
from orthrus_serving.bench.work.phases import Phase
from orthrus_serving.bench.work.prompts import DrawnPrompts
from orthrus_serving.bench.work.workload import Workload, drawn_nonce
from orthrus_serving.scheduling.task import Task

_TOKEN_IDS = range(300, 1000)
"""In every vocabulary, and special in none of the usual ones."""
_TIMES = 2
"""Around all loads: what drifts meets each of them early and late."""


@dataclass(frozen=True)
class _Load:
    """Closed loops of each task; lengths in tokens."""

    embedding_clients: int = 0
    embedding_tokens: int = 1
    generation_clients: int = 0
    prompt_tokens: int = 1
    output_tokens: int = 1

    def sets(self, seconds: float, seed: int, nonce: int) -> Iterator[ClientSet]:
        prompts = {
            Task.EMBEDDING: _drawn(Task.EMBEDDING, self.embedding_tokens, None),
            Task.GENERATION: _drawn(Task.GENERATION, self.prompt_tokens, self.output_tokens),
        }
        for clients, mix in ((self.embedding_clients, "1:0"), (self.generation_clients, "0:1")):
            if clients:
                phases = [Phase(seconds, parse_mix(mix))]
                yield ClientSet(clients, Workload(prompts, phases, Unit.REQUESTS, seed, nonce))


_LOADS = (
    _Load(generation_clients=1, prompt_tokens=16, output_tokens=64),
    _Load(embedding_clients=1, embedding_tokens=64),
    _Load(generation_clients=8, prompt_tokens=32, output_tokens=32),
    _Load(embedding_clients=4, embedding_tokens=128),
    _Load(
        embedding_clients=1,
        embedding_tokens=64,
        generation_clients=4,
        prompt_tokens=16,
        output_tokens=64,
    ),
    _Load(generation_clients=24, prompt_tokens=16, output_tokens=48),
    _Load(
        embedding_clients=4,
        embedding_tokens=96,
        generation_clients=8,
        prompt_tokens=64,
        output_tokens=16,
    ),
    _Load(generation_clients=4, prompt_tokens=128, output_tokens=4),
)


async def drive(url: str, seconds: float, seed: int) -> None:
    """Several loads, one after the other, twice around.

    Raises:
        UnusableServerError: the replica does not answer, or refuses a first request.
    """
    servers = Servers({task: [url] for task in Task}, generation_extra={"ignore_eos": True})
    each, nonce = seconds / (_TIMES * len(_LOADS)), drawn_nonce()
    bounds = Bounds(warm_up=0, warm_up_most=0, window=each, window_most=each, answers=1)
    for number, load in enumerate(_LOADS * _TIMES):
        sets = list(load.sets(each, seed + number, nonce))
        await run(servers, TimedClients(sets=sets, bounds=bounds))


def _drawn(task: Task, tokens: int, outputs: int | None) -> DrawnPrompts:
    lengths = None if outputs is None else parse_lengths(str(outputs))
    return DrawnPrompts(task, parse_lengths(str(tokens)), lengths, _TOKEN_IDS)
