"""What one simulation says, as plain data."""

from dataclasses import dataclass

from orthrus_serving.scheduling.task import Task
from orthrus_serving.sim.pool import Pool
from orthrus_serving.sim.simulation import Simulation
from orthrus_serving.sim.summary import TaskSummary, summarize


@dataclass(frozen=True)
class PoolReport:
    """`busy`: share of the time of its replicas in which a step was on. `fill`: scheduled tokens
    over the tokens that the budgets of all steps offered.
    """

    replicas: int
    busy: float
    fill: float
    steps: int
    preemptions: int
    replica_seconds: float


@dataclass(frozen=True)
class Report:
    """Over the window from `start` to `end`; pools over all the time."""

    start: float
    end: float
    sent: int
    answered: int
    embedding: TaskSummary
    generation: TaskSummary
    pools: tuple[PoolReport, ...]

    @property
    def requests_per_second(self) -> float:
        return self.embedding.requests_per_second + self.generation.requests_per_second


def report(simulation: Simulation, start: float, end: float) -> Report:
    records = simulation.records
    return Report(
        start,
        end,
        simulation.sent,
        sum(len(record.finished) for record in records.values()),
        summarize(records[Task.EMBEDDING], start, end),
        summarize(records[Task.GENERATION], start, end),
        tuple(_of_pool(pool) for pool in simulation.system.pools),
    )


def _of_pool(pool: Pool) -> PoolReport:
    totals = [replica.totals for replica in pool.replicas]
    steps = sum(each.steps for each in totals)
    tokens = sum(each.chunk_tokens + each.decode_tokens for each in totals)
    offered = steps * pool.token_budget
    return PoolReport(
        replicas=pool.size,
        busy=sum(each.busy_seconds for each in totals) / pool.replica_seconds,
        fill=tokens / offered if offered else 0.0,
        steps=steps,
        preemptions=sum(each.preemptions for each in totals),
        replica_seconds=pool.replica_seconds,
    )
