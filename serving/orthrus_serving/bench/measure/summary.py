"""Figures of one window of a run, for each task."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from orthrus_serving.bench.client.outcome import Outcome
from orthrus_serving.bench.measure.objective import Objective, is_good
from orthrus_serving.bench.measure.spread import Spread, spread
from orthrus_serving.bench.measure.window import By, Window
from orthrus_serving.scheduling.task import Task


@dataclass(frozen=True)
class TaskSummary:
    """Rates are per second of the window, durations in seconds."""

    answered: int
    requests_per_second: float
    prompt_tokens_per_second: float
    output_tokens_per_second: float
    good_per_second: float | None
    """Goodput; None without an objective."""
    latency: Spread | None
    first_token: Spread | None
    gap: Spread | None
    """Over all gaps of all streams."""
    seconds_per_token: Spread | None
    """Mean of a stream's output tokens after its first."""
    errors: dict[str, int]


@dataclass(frozen=True)
class Summary:
    """One window."""

    window: Window
    tasks: dict[Task, TaskSummary]
    embedding_share: float
    """Of the tokens, prompts and outputs, 0 to 1."""
    send_lag: Spread | None
    """How late the client itself was, from a request's planned time to its sending; None in a
    closed loop, which plans a request when it sends it."""

    @property
    def requests_per_second(self) -> float:
        return sum(task.requests_per_second for task in self.tasks.values())


def summarize(
    outcomes: Sequence[Outcome], window: Window, by: By, objectives: Sequence[Objective]
) -> Summary:
    """Rates count the requests that ended in the window, durations the requests that it holds."""
    tasks = {}
    for task in Task:
        of_task = [outcome for outcome in outcomes if outcome.task is task]
        if of_task:
            tasks[task] = _summarize_task(of_task, window, by, objectives)
    tokens = {
        task: found.prompt_tokens_per_second + found.output_tokens_per_second
        for task, found in tasks.items()
    }
    lag = (o.sent - o.planned for o in outcomes if window.holds_outcome(o, by))
    return Summary(
        window,
        tasks,
        tokens.get(Task.EMBEDDING, 0.0) / (sum(tokens.values()) or 1.0),
        spread(lag) if by is By.PLANNED else None,
    )


def _summarize_task(
    outcomes: Sequence[Outcome], window: Window, by: By, objectives: Sequence[Objective]
) -> TaskSummary:
    held = [outcome for outcome in outcomes if window.holds_outcome(outcome, by)]
    answered = [outcome for outcome in held if outcome.error is None]
    ended = [o for o in outcomes if o.error is None and window.holds(o.ended)]
    good = sum(is_good(outcome, objectives) for outcome in held)
    objective_of_task = any(objective.task is outcomes[0].task for objective in objectives)
    return TaskSummary(
        answered=len(answered),
        requests_per_second=len(ended) / window.seconds,
        prompt_tokens_per_second=sum(o.prompt_tokens for o in ended) / window.seconds,
        output_tokens_per_second=sum(o.output_tokens for o in ended) / window.seconds,
        good_per_second=good / window.seconds if objective_of_task else None,
        latency=spread(outcome.latency for outcome in answered),
        first_token=spread(o.first_token for o in answered if o.first_token is not None),
        gap=spread(gap for outcome in answered for gap in outcome.gaps),
        seconds_per_token=spread(
            o.seconds_per_token for o in answered if o.seconds_per_token is not None
        ),
        errors=dict(Counter(outcome.error for outcome in held if outcome.error is not None)),
    )
