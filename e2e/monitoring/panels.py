"""What the dashboard shows: one row for each question that an SRE asks. Values only."""

from dataclasses import dataclass

SELECTOR = 'namespace=~"$namespace",name=~"$name"'
"""Of the dashboard's variables; on every series of a replica."""
_BY_DEPLOYMENT = "namespace, name"


@dataclass(frozen=True)
class Query:
    """One PromQL expression; `legend` names its lines by their labels."""

    expression: str
    legend: str


@dataclass(frozen=True)
class Panel:
    """One chart; `unit` is Grafana's name of it. The first query's metric explains the panel."""

    title: str
    unit: str
    queries: tuple[Query, ...]
    stacked: bool = False


@dataclass(frozen=True)
class Question:
    """A row of the dashboard."""

    title: str
    panels: tuple[Panel, ...]


def _sum(metric: str, *labels: str, matchers: str = "") -> str:
    return f"sum by ({', '.join((_BY_DEPLOYMENT, *labels))}) ({metric}{{{SELECTOR}{matchers}}})"


def _rate(metric: str, *labels: str, matchers: str = "") -> str:
    series = f"{metric}{{{SELECTOR}{matchers}}}[$__rate_interval]"
    return f"sum by ({', '.join((_BY_DEPLOYMENT, *labels))}) (rate({series}))"


def _share(part: str, whole: str) -> str:
    """No value, rather than 0 / 0, while nothing runs."""
    return f"{part} / ({whole} > 0)"


def _quantile(quantile: float, histogram: str, *labels: str, matchers: str = "") -> str:
    buckets = _rate(f"{histogram}_bucket", *labels, "le", matchers=matchers)
    return f"histogram_quantile({quantile}, {buckets} > 0)"


def _latencies(title: str, histogram: str) -> Panel:
    return Panel(
        title,
        "s",
        tuple(
            Query(_quantile(quantile, histogram, "type"), f"{{{{name}}}} {{{{type}}}} {name}")
            for quantile, name in ((0.5, "p50"), (0.99, "p99"))
        ),
    )


def _per_replica(title: str, unit: str, expression: str, legend: str = "{{pod}}") -> Panel:
    return Panel(title, unit, (Query(expression, legend),))


_LOOKS = "orthrus_operator_reconciles_total[$__rate_interval]"
_SCHEDULED = "orthrus_scheduled_tokens_total"
_EMBEDDING = ',unit="embedding_chunk"'

QUESTIONS = (
    Question(
        "Is it keeping up?",
        (
            Panel(
                "Backlog per replica",
                "short",
                (
                    Query(
                        f"{_sum('orthrus_backlog_tokens', 'type')} / on ({_BY_DEPLOYMENT}) "
                        f"group_left count by ({_BY_DEPLOYMENT}) (count by ({_BY_DEPLOYMENT}, pod) "
                        f"(orthrus_backlog_tokens{{{SELECTOR}}}))",
                        "{{name}} {{type}}",
                    ),
                ),
                stacked=True,
            ),
            Panel(
                "Time to work the backlog off",
                "s",
                (
                    Query(
                        f"max by ({_BY_DEPLOYMENT}) (orthrus_backlog_seconds{{{SELECTOR}}})",
                        "{{name}} worst replica",
                    ),
                ),
            ),
            Panel(
                "Requests by outcome",
                "reqps",
                (Query(_rate("orthrus_requests_total", "status"), "{{name}} {{status}}"),),
                stacked=True,
            ),
            Panel(
                "Requests turned away",
                "reqps",
                (Query(_rate("orthrus_rejected_requests_total", "reason"), "{{name}} {{reason}}"),),
            ),
        ),
    ),
    Question(
        "What is the mix?",
        (
            Panel(
                "Embedding share of the tokens",
                "percentunit",
                (
                    Query(
                        _share(_rate(_SCHEDULED, matchers=_EMBEDDING), _rate(_SCHEDULED)),
                        "{{name}}",
                    ),
                ),
            ),
            Panel(
                "Tokens by batch unit",
                "short",
                (Query(_rate(_SCHEDULED, "unit"), "{{name}} {{unit}}"),),
                stacked=True,
            ),
            Panel(
                "Steps by what they held",
                "ops",
                (Query(_rate("orthrus_steps_total", "kind"), "{{name}} {{kind}}"),),
                stacked=True,
            ),
        ),
    ),
    Question(
        "Is either type waiting?",
        (
            Panel(
                "Oldest waiting request",
                "s",
                (
                    Query(
                        f"max by ({_BY_DEPLOYMENT}, type) "
                        f"(orthrus_oldest_waiting_seconds{{{SELECTOR}}})",
                        "{{name}} {{type}}",
                    ),
                ),
            ),
            _latencies("Duration of requests", "orthrus_request_seconds"),
            _latencies("Time to the first token or vector", "orthrus_time_to_first_token_seconds"),
        ),
    ),
    Question(
        "How full are the batches?",
        (
            Panel(
                "Batch fill",
                "percentunit",
                (
                    Query(
                        _share(_rate(_SCHEDULED), _rate("orthrus_token_budget_total")), "{{name}}"
                    ),
                ),
            ),
            _per_replica(
                "KV cache in use",
                "percentunit",
                f"orthrus_kv_cache_usage_ratio{{{SELECTOR}}}",
            ),
            Panel(
                "Preemptions",
                "ops",
                (Query(_rate("vllm:num_preemptions_total"), "{{name}}"),),
            ),
        ),
    ),
    Question(
        "What does each replica do?",
        (
            _per_replica("Backlog", "short", _sum("orthrus_backlog_tokens", "pod")),
            _per_replica("Busy", "percentunit", f"orthrus_busy_ratio{{{SELECTOR}}}"),
            _per_replica(
                "Forward pass, p99",
                "s",
                _quantile(0.99, "orthrus_step_seconds", "pod", matchers=',phase="forward"'),
            ),
            _per_replica(
                "Age of the engine's state",
                "s",
                f"orthrus_snapshot_age_seconds{{{SELECTOR}}}",
            ),
            _per_replica(
                "GPU utilization",
                "percentunit",
                f"orthrus_gpu_utilization_ratio{{{SELECTOR}}}",
                "{{pod}} {{gpu}}",
            ),
            _per_replica(
                "GPU memory",
                "bytes",
                f"orthrus_gpu_memory_used_bytes{{{SELECTOR}}}",
                "{{pod}} {{gpu}}",
            ),
        ),
    ),
    Question(
        "Are there as many replicas as wanted, and is the operator at work?",
        (
            Panel(
                "Replicas",
                "short",
                (Query(_sum("orthrus_deployment_replicas", "state"), "{{name}} {{state}}"),),
            ),
            Panel(
                "Looks at objects, by how they ended",
                "ops",
                (Query(f"sum by (result) (rate({_LOOKS}))", "{{result}}"),),
                stacked=True,
            ),
            Panel(
                "Wait for a look, p99",
                "s",
                (
                    Query(
                        "histogram_quantile(0.99, sum by (le) "
                        "(rate(orthrus_operator_queue_seconds_bucket[$__rate_interval])) > 0)",
                        "p99",
                    ),
                ),
            ),
        ),
    ),
)
