"""What the options of `orthrus bench run` mean."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from orthrus_serving.bench.client.addresses import without_v1
from orthrus_serving.bench.load.load import (
    CountedClients,
    DrawnArrivals,
    Load,
    TimedClients,
    Trace,
)
from orthrus_serving.bench.load.run import Servers
from orthrus_serving.bench.measure.objective import Objective, parse_objective
from orthrus_serving.bench.work.arrivals import parse_arrivals
from orthrus_serving.bench.work.lengths import parse_lengths
from orthrus_serving.bench.work.mix import Unit, parse_mix
from orthrus_serving.bench.work.phases import Phase, parse_phases
from orthrus_serving.bench.work.plan import drawn_plan, read_trace
from orthrus_serving.bench.work.prompts import DrawnPrompts, Prompts, read_prompts
from orthrus_serving.bench.work.workload import Workload
from orthrus_serving.scheduling.task import Task


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """As they were given."""

    url: list[str]
    embedding_url: list[str]
    generation_url: list[str]
    model: str | None
    embedding_model: str | None
    api_key: str | None
    timeout: float
    mix: str
    mix_unit: str
    phases: str | None
    embedding_tokens: str
    prompt_tokens: str
    output_tokens: str
    token_ids: str
    prompts: Path | None
    ignore_eos: bool
    seed: int
    clients: int
    requests: int | None
    rate: float | None
    arrivals: str
    trace: Path | None
    seconds: float
    warm_up: float
    drain: float
    slo: list[str]

    def servers(self, load: Load) -> Servers:
        """Raises ValueError: a task of `load` has no address."""
        urls = {
            Task.EMBEDDING: self.embedding_url or self.url,
            Task.GENERATION: self.generation_url or self.url,
        }
        models = {
            Task.EMBEDDING: self.embedding_model or self.model,
            Task.GENERATION: self.model,
        }
        for task in Task:
            if task in load.tasks and not urls[task]:
                raise ValueError(f"no server of {task.value}: give --url or --{task.value}-url")
        return Servers(
            {task: [without_v1(url) for url in found] for task, found in urls.items()},
            {task: name for task, name in models.items() if name},
            self.api_key,
            self.timeout,
            {"ignore_eos": True} if self.ignore_eos else {},
        )

    def load(self) -> Load:
        """Raises ValueError: an option of a form that is not known, or two that exclude another."""
        if sum(option is not None for option in (self.requests, self.rate, self.trace)) > 1:
            raise ValueError("--requests, --rate and --trace exclude one another")
        if self.trace is not None:
            return Trace(read_trace(self.trace, self._drawn(), self.seed), self.drain)
        workload = self._workload()
        if self.requests is not None:
            return CountedClients(workload, self.clients, self.requests)
        if self.rate is not None:
            arrivals = parse_arrivals(self.arrivals, self.rate)
            plan = partial(drawn_plan, workload, self.warm_up, arrivals)
            return DrawnArrivals(
                workload=workload, plan=plan, warm_up=self.warm_up, drain=self.drain
            )
        return TimedClients(workload=workload, clients=self.clients, warm_up=self.warm_up)

    def objectives(self) -> list[Objective]:
        """Raises ValueError: one of a form that is not known."""
        return [parse_objective(text) for text in self.slo]

    def described(self) -> Mapping[str, Any]:
        """All options that say something, for the reader of the result; never the key."""
        found = {k: v for k, v in asdict(self).items() if k != "api_key" and v not in (None, [])}
        return {k: str(v) if isinstance(v, Path) else v for k, v in found.items()}

    def _workload(self) -> Workload:
        phases = (
            parse_phases(self.phases) if self.phases else [Phase(self.seconds, parse_mix(self.mix))]
        )
        if self.mix_unit not in set(Unit):
            raise ValueError(f"mix unit {self.mix_unit!r}: write requests or tokens")
        read: Mapping[Task, Prompts] = (
            read_prompts(self.prompts, parse_lengths(self.output_tokens)) if self.prompts else {}
        )
        return Workload({**self._drawn(), **read}, phases, Unit(self.mix_unit), self.seed)

    def _drawn(self) -> dict[Task, DrawnPrompts]:
        ids = parse_token_ids(self.token_ids)
        outputs = parse_lengths(self.output_tokens)
        return {
            Task.EMBEDDING: DrawnPrompts(
                Task.EMBEDDING, parse_lengths(self.embedding_tokens), None, ids
            ),
            Task.GENERATION: DrawnPrompts(
                Task.GENERATION, parse_lengths(self.prompt_tokens), outputs, ids
            ),
        }


def parse_token_ids(text: str) -> range:
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise ValueError(f"token ids {text!r}: write FIRST-LAST, as 1000-30000")
    return range(int(first), int(last) + 1)
