"""What a system is measured under."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from orthrus_serving.bench.load.load import Load, TimedClients, Trace
from orthrus_serving.bench.retgen.collection import read_collection
from orthrus_serving.bench.retgen.load import RetGenLoad
from orthrus_serving.bench.work.lengths import parse_lengths
from orthrus_serving.bench.work.mix import Unit, parse_mix
from orthrus_serving.bench.work.phases import Phase, parse_phases
from orthrus_serving.bench.work.plan import Planned
from orthrus_serving.bench.work.prompts import DrawnPrompts
from orthrus_serving.bench.work.workload import Workload
from orthrus_serving.scheduling.task import Task

_ITERATIONS = 2
_RETRIEVED = 5
_ANSWER_TOKENS = 48


@dataclass(frozen=True)
class Work:
    """The requests of a suite, and how long each measurement takes."""

    embedding_tokens: str
    prompt_tokens: str
    output_tokens: str
    token_ids: range
    clients: int
    seconds: float
    warm_up: float

    def workload(self, phases: tuple[Phase, ...], seed: int) -> Workload:
        embedding = parse_lengths(self.embedding_tokens)
        prompt, output = parse_lengths(self.prompt_tokens), parse_lengths(self.output_tokens)
        prompts = {
            Task.EMBEDDING: DrawnPrompts(Task.EMBEDDING, embedding, None, self.token_ids),
            Task.GENERATION: DrawnPrompts(Task.GENERATION, prompt, output, self.token_ids),
        }
        return Workload(prompts, phases, Unit.REQUESTS, seed)


@dataclass(frozen=True)
class Cell:
    """A load by its name; a seed makes it, the same for all systems of a round."""

    name: str
    load: Callable[[int], Load]
    seconds: float
    """About how long it takes."""


def mix(text: str, work: Work, clients: int | None = None) -> Cell:
    """Clients in a closed loop with one mix."""
    loaded = replace(work, clients=clients or work.clients)
    name = text if clients is None else f"{text}, {clients} clients"
    return phases(name, f"{work.seconds}@{text}", loaded)


def phases(name: str, text: str, work: Work) -> Cell:
    """Clients in a closed loop whose mix changes."""
    parsed = parse_phases(text)
    total = work.warm_up + sum(phase.seconds for phase in parsed)
    return Cell(
        name,
        lambda seed: TimedClients(
            workload=work.workload(parsed, seed), clients=work.clients, warm_up=work.warm_up
        ),
        total,
    )


def worst_case(each: int, work: Work, drain: float) -> Cell:
    """The paper's worst case: all generations, then all embeddings, at one instant."""

    def load(seed: int) -> Load:
        planned = []
        for task in ("0:1", "1:0"):
            requests = work.workload((Phase(1.0, parse_mix(task)),), seed).requests(0)
            planned += [Planned(0.0, next(requests)) for _ in range(each)]
        return Trace(planned, drain)

    return Cell(f"{each} and {each} at once", load, work.seconds)


def iter_retgen(queries: int, passages: int, clients: int, work: Work) -> Cell:
    """Iterative retrieval-generation over real text: the mix shifts by itself."""

    def load(seed: int) -> Load:
        collection = read_collection(queries, seed, passages)
        return RetGenLoad(
            collection.passages,
            collection.queries,
            clients,
            iterations=_ITERATIONS,
            retrieve=_RETRIEVED,
            answer_tokens=_ANSWER_TOKENS,
        )

    return Cell(f"{queries} queries", load, work.seconds)
