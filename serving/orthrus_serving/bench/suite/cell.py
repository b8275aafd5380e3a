"""What a system is measured under."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from orthrus_serving.bench.load.clients import ClientSet
from orthrus_serving.bench.load.load import Load, TimedClients, Trace
from orthrus_serving.bench.load.steady import Bounds
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
    """The requests of a suite, and how long each measurement takes; systems of one round get the
    same."""

    embedding_tokens: str
    prompt_tokens: str
    output_tokens: str
    token_ids: range
    clients: int
    bounds: Bounds
    nonce: int

    def workload(self, phases: Sequence[Phase], seed: int) -> Workload:
        embedding = parse_lengths(self.embedding_tokens)
        prompt, output = parse_lengths(self.prompt_tokens), parse_lengths(self.output_tokens)
        prompts = {
            Task.EMBEDDING: DrawnPrompts(Task.EMBEDDING, embedding, None, self.token_ids),
            Task.GENERATION: DrawnPrompts(Task.GENERATION, prompt, output, self.token_ids),
        }
        return Workload(prompts, phases, Unit.REQUESTS, seed, self.nonce)


@dataclass(frozen=True)
class Cell:
    """A load by its name; a seed makes it, the same for all systems of a round."""

    name: str
    load: Callable[[int], Load]
    seconds: tuple[float, float]
    """About how long it takes, at least and at most."""
    bounds: Bounds | None = None
    """Of a closed loop."""


def mix(text: str, work: Work, clients: int | None = None) -> Cell:
    """Clients in a closed loop with one mix."""
    count = clients or work.clients
    parsed = [Phase(work.bounds.window, parse_mix(text))]
    name = text if clients is None else f"{text}, {clients} clients"
    return _closed(name, lambda seed: [ClientSet(count, work.workload(parsed, seed))], work.bounds)


def phases(name: str, text: str, work: Work) -> Cell:
    """Clients in a closed loop whose mix changes, after as long for every system."""
    parsed = parse_phases(text)
    total = sum(phase.seconds for phase in parsed)
    return _closed(
        name,
        lambda seed: [ClientSet(work.clients, work.workload(parsed, seed))],
        replace(work.bounds, window=total, window_most=total),
    )


def side_by_side(name: str, clients: int, work: Work) -> Cell:
    """As many clients of each task, in closed loops of their own: neither starves the other."""
    alone = [[Phase(work.bounds.window, parse_mix(text))] for text in ("1:0", "0:1")]
    return _closed(
        name,
        lambda seed: [ClientSet(clients, work.workload(phase, seed)) for phase in alone],
        work.bounds,
    )


def _closed(name: str, sets: Callable[[int], Sequence[ClientSet]], bounds: Bounds) -> Cell:
    return Cell(
        name,
        lambda seed: TimedClients(sets=sets(seed), bounds=bounds),
        (bounds.warm_up + bounds.window, bounds.warm_up_most + bounds.window_most),
        bounds,
    )


def worst_case(each: int, work: Work, drain: float) -> Cell:
    """The paper's worst case: all generations, then all embeddings, at one instant."""

    def load(seed: int) -> Load:
        planned = []
        for task in ("0:1", "1:0"):
            requests = work.workload((Phase(1.0, parse_mix(task)),), seed).requests(0)
            planned += [Planned(0.0, next(requests)) for _ in range(each)]
        return Trace(planned, drain)

    return Cell(f"{each} and {each} at once", load, (work.bounds.window, drain))


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

    return Cell(f"{queries} queries", load, (work.bounds.window, work.bounds.window_most))
