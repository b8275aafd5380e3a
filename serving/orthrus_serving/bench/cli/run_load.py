"""What the options of `orthrus bench run` mean."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from orthrus_serving.bench.cli.run_options import RunOptions
from orthrus_serving.bench.client.addresses import without_v1
from orthrus_serving.bench.load.clients import ClientSet
from orthrus_serving.bench.load.load import (
    CountedClients,
    DrawnArrivals,
    Load,
    TimedClients,
    Trace,
)
from orthrus_serving.bench.load.run import Servers
from orthrus_serving.bench.load.steady import Bounds
from orthrus_serving.bench.work.arrivals import parse_arrivals
from orthrus_serving.bench.work.lengths import parse_lengths
from orthrus_serving.bench.work.mix import Unit, parse_mix
from orthrus_serving.bench.work.phases import Phase, parse_phases
from orthrus_serving.bench.work.plan import drawn_plan, read_trace
from orthrus_serving.bench.work.prompts import DrawnPrompts, Prompts, parse_token_ids, read_prompts
from orthrus_serving.bench.work.workload import Workload
from orthrus_serving.scheduling.task import Task


def servers_of(options: RunOptions, load: Load, api_key: str | None) -> Servers:
    """Raises ValueError: a task of `load` has no address."""
    urls = {
        Task.EMBEDDING: options.embedding_url or options.url or [],
        Task.GENERATION: options.generation_url or options.url or [],
    }
    models = {
        Task.EMBEDDING: options.embedding_model or options.model,
        Task.GENERATION: options.model,
    }
    for task in Task:
        if task in load.tasks and not urls[task]:
            raise ValueError(f"no server of {task.value}: give --url or --{task.value}-url")
    return Servers(
        {task: [without_v1(url) for url in found] for task, found in urls.items()},
        {task: name for task, name in models.items() if name},
        api_key,
        options.timeout,
        {"ignore_eos": True} if options.ignore_eos else {},
    )


def described(options: RunOptions, nonce: int) -> Mapping[str, Any]:
    """All options that say something, for the reader of the result."""
    found = {k: v for k, v in asdict(options).items() if v not in (None, [])} | {"nonce": nonce}
    return {k: str(v) if isinstance(v, Path) else v for k, v in found.items()}


@dataclass(frozen=True)
class AskedLoad:
    """The load that `options` describe, with the token ids of `nonce`."""

    options: RunOptions
    nonce: int

    def load(self) -> Load:
        """Raises ValueError: an option of a form that is not known, or two that exclude another."""
        options = self.options
        if sum(o is not None for o in (options.requests, options.rate, options.trace)) > 1:
            raise ValueError("--requests, --rate and --trace exclude one another")
        if options.embedding_clients or options.generation_clients:
            return self._clients_of_each_task()
        if options.trace is not None:
            planned = read_trace(options.trace, self._drawn(), options.seed, self.nonce)
            return Trace(planned, options.drain)
        workload = self._workload(self._phases())
        if options.requests is not None:
            return CountedClients(workload, options.clients, options.requests)
        if options.rate is not None:
            arrivals = parse_arrivals(options.arrivals, options.rate)
            plan = partial(drawn_plan, workload, options.warm_up, arrivals)
            return DrawnArrivals(
                workload=workload, plan=plan, warm_up=options.warm_up, drain=options.drain
            )
        return self._timed([ClientSet(options.clients, workload)])

    def _clients_of_each_task(self) -> Load:
        options = self.options
        clients = (options.embedding_clients, options.generation_clients)
        others = (options.requests, options.rate, options.trace, options.phases)
        if None in clients or any(other is not None for other in others):
            raise ValueError(
                "--embedding-clients and --generation-clients go together, and exclude --requests, "
                "--rate, --trace and --phases"
            )
        return self._timed(
            [
                ClientSet(count, self._workload([Phase(options.seconds, parse_mix(mix))]))
                for count, mix in zip(clients, ("1:0", "0:1"), strict=True)
                if count is not None
            ]
        )

    def _timed(self, sets: Sequence[ClientSet]) -> TimedClients:
        options = self.options
        seconds = sets[0].workload.seconds
        # Phases last as long as they were asked to.
        most = seconds if options.phases else max(seconds, options.seconds_most)
        warm_up_most = max(options.warm_up, options.warm_up_most)
        bounds = Bounds(options.warm_up, warm_up_most, seconds, most, options.answers)
        return TimedClients(sets=sets, bounds=bounds)

    def _phases(self) -> Sequence[Phase]:
        options = self.options
        if options.phases:
            return parse_phases(options.phases)
        return [Phase(options.seconds, parse_mix(options.mix))]

    def _workload(self, phases: Sequence[Phase]) -> Workload:
        options = self.options
        if options.mix_unit not in set(Unit):
            raise ValueError(f"mix unit {options.mix_unit!r}: write requests or tokens")
        outputs = parse_lengths(options.output_tokens)
        read: Mapping[Task, Prompts] = (
            read_prompts(options.prompts, outputs) if options.prompts else {}
        )
        prompts = {**self._drawn(), **read}
        return Workload(prompts, phases, Unit(options.mix_unit), options.seed, self.nonce)

    def _drawn(self) -> dict[Task, DrawnPrompts]:
        ids = parse_token_ids(self.options.token_ids)
        embedding, prompt, output = map(
            parse_lengths,
            (
                self.options.embedding_tokens,
                self.options.prompt_tokens,
                self.options.output_tokens,
            ),
        )
        return {
            Task.EMBEDDING: DrawnPrompts(Task.EMBEDDING, embedding, None, ids),
            Task.GENERATION: DrawnPrompts(Task.GENERATION, prompt, output, ids),
        }
