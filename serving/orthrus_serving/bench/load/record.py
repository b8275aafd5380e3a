"""What a run has seen so far."""

from collections import Counter
from dataclasses import dataclass, field

from orthrus_serving.bench.client.client import Client
from orthrus_serving.bench.client.outcome import Outcome, Reply
from orthrus_serving.bench.work.request import Request
from orthrus_serving.scheduling.task import Task

UNFINISHED = "unfinished"


@dataclass
class Record:
    """Every outcome, and how many requests wait for one."""

    client: Client
    outcomes: list[Outcome] = field(default_factory=list)
    in_flight: int = 0
    answered: Counter[Task] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    async def send(self, request: Request, planned: float) -> Outcome:
        """Sends a request and notes what became of it."""
        return (await self.ask(request, planned)).outcome

    async def ask(self, request: Request, planned: float) -> Reply:
        """The same, for those who want the answer."""
        self.in_flight += 1
        try:
            reply = await self.client.send(request, planned)
        finally:
            self.in_flight -= 1
        self.note(reply.outcome)
        return reply

    def note(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        if outcome.error is None:
            self.answered[outcome.task] += 1
        else:
            self.failed[outcome.error] += 1
