"""Reads a replica's /metrics."""

import httpx
from prometheus_client.parser import text_string_to_metric_families


def samples(base_url: str, name: str, **labels: str) -> list[float]:
    """Values of all series of that name which have these labels, and perhaps others."""
    text = httpx.get(f"{base_url}/metrics", timeout=60).raise_for_status().text
    return [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]


def metric(base_url: str, name: str, **labels: str) -> float:
    """The value of one series.

    Raises:
        LookupError: there is no such series, or there are several.
    """
    found = samples(base_url, name, **labels)
    if len(found) != 1:
        raise LookupError(f"{base_url}/metrics has {len(found)} series {name} with {labels}")
    return found[0]
