"""How figures are written in a terminal."""

from collections.abc import Iterator, Sequence

from orthrus_operator.top.rows import DeploymentRow, Figures, Latency, ReplicaRow

UNKNOWN = "-"
COLUMNS = (
    "NAME",
    "READY",
    "MIX",
    "FILL",
    "BUSY",
    "GPU",
    "KV",
    "BACKLOG EMBED",
    "BACKLOG GEN",
    "EMBED P50/P99",
    "TTFT P50/P99",
    "GEN P50/P99",
)
LEGEND = (
    "MIX embedding share of tokens · FILL of the token budget · BUSY time in forward passes · KV"
    " cache in use, the fullest · BACKLOG prompt tokens not yet scheduled · P50/P99 seconds of"
    " requests that ended in the window"
)


def lines(found: Sequence[DeploymentRow], *, replicas: bool = True) -> Iterator[tuple[str, ...]]:
    """A line of cells for each deployment, and, if wanted, for each of its replicas below it."""
    for row in found:
        yield (f"{row.namespace}/{row.name}", row.ready, *_cells(row.figures))
        for replica in row.replicas if replicas else ():
            yield (f"  {replica.name}", _state(replica), *_cells(replica.figures))


def problems(found: Sequence[DeploymentRow]) -> list[str]:
    """A sentence for each ready replica that told nothing."""
    return [
        f"{row.namespace}/{replica.name}: {replica.problem}"
        for row in found
        for replica in row.replicas
        if replica.ready and replica.problem
    ]


def _state(replica: ReplicaRow) -> str:
    return "yes" if replica.ready else "no"


def _cells(figures: Figures) -> tuple[str, ...]:
    return (
        _percent(figures.mix_ratio),
        _percent(figures.batch_fill_ratio),
        _percent(figures.busy_ratio),
        _percent(figures.gpu_utilization_ratio),
        _percent(figures.kv_cache_usage_ratio),
        _tokens(figures.backlog_tokens.get("embedding")),
        _tokens(figures.backlog_tokens.get("generation")),
        _seconds(figures.request_seconds.get("embedding")),
        _seconds(figures.time_to_first_token_seconds.get("generation")),
        _seconds(figures.request_seconds.get("generation")),
    )


def _percent(ratio: float | None) -> str:
    return UNKNOWN if ratio is None else f"{ratio:.0%}"


def _tokens(count: float | None) -> str:
    return UNKNOWN if count is None else f"{count:,.0f}"


def _seconds(latency: Latency | None) -> str:
    if latency is None or latency.p50 is None or latency.p99 is None:
        return UNKNOWN
    return f"{latency.p50:.2f}/{latency.p99:.2f}"
