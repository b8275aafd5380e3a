"""A progress bar for a run."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from orthrus_serving.bench.load import run
from orthrus_serving.bench.load.load import Load
from orthrus_serving.bench.load.record import Record
from orthrus_serving.scheduling.task import Task


@contextmanager
def shown_progress(load: Load, console: Console, name: str = "") -> Iterator[run.Progress]:
    """A bar over the requests of a run, if their number is known, else over its seconds."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        shown = bar.add_task(name or "connecting", total=load.requests or load.seconds)

        def update(seconds: float, record: Record) -> None:
            answered, failed = record.answered, record.failed.total()
            bar.update(
                shown,
                completed=answered.total() + failed if load.requests else seconds,
                description=f"{name} {answered[Task.EMBEDDING]} embeddings, "
                f"{answered[Task.GENERATION]} generations, {failed} failed, "
                f"{record.in_flight} open".strip(),
            )

        yield update
