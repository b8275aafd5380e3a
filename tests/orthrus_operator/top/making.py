"""Observations as a cluster would give them."""

from typing import Any

from orthrus_operator.api.group import DEPLOYMENT_LABEL
from orthrus_operator.top.observation import Observation
from orthrus_operator.top.reading import Reading, reading


def exposition(
    *, embedding: int = 0, decode: int = 0, backlog: int = 0, busy: float = 0.5, fast: int = 0
) -> str:
    """`fast`: embedding requests that took at most 0.1 s."""
    lines = [
        f'orthrus_scheduled_tokens_total{{unit="embedding_chunk"}} {embedding}.0',
        f'orthrus_scheduled_tokens_total{{unit="decode"}} {decode}.0',
        f"orthrus_token_budget_total {2 * (embedding + decode)}.0",
        f"orthrus_busy_ratio {busy}",
        f'orthrus_backlog_tokens{{type="embedding"}} {backlog}.0',
        'orthrus_backlog_tokens{type="generation"} 0.0',
        "orthrus_kv_cache_usage_ratio 0.25",
    ]
    for model in ("a", "b"):
        lines += [
            f'orthrus_request_seconds_bucket{{le="{bound}",model="{model}",type="embedding"}} {n}'
            for bound, n in (("0.1", fast), ("1.0", fast), ("+Inf", fast))
        ]
    return "\n".join(lines) + "\n"


def orthrus(name: str = "chat", replicas: int = 2) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "models", "name": name},
        "spec": {"replicas": replicas},
        "status": {"ready": f"{replicas}/{replicas}"},
    }


def pod(uid: str, *, ready: bool, name: str = "chat") -> dict[str, Any]:
    labels = {DEPLOYMENT_LABEL: name}
    metadata = {"namespace": "models", "name": f"{name}-{uid}", "uid": uid, "labels": labels}
    status = {"conditions": [{"type": "Ready", "status": str(ready)}]}
    return {"metadata": metadata, "spec": {"nodeName": "node1"}, "status": status}


def observation(**said: str) -> Observation:
    """One deployment whose pods say `said`, expositions or sentences, by uid; "" is not ready."""
    readings: dict[str, Reading | str] = {
        uid: reading(text) if "\n" in text else text for uid, text in said.items() if text
    }
    pods = tuple(pod(uid, ready=uid in readings) for uid in said)
    return Observation((orthrus(replicas=len(said)),), pods, readings)
