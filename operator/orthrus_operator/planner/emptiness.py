"""Which replicas a scale-down should take: the emptiest."""

from collections.abc import Mapping

from orthrus_operator.planner.replica_sample import ReplicaSample

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
"""Annotation by which a ReplicaSet chooses among ready pods: the lowest goes first."""


def deletion_costs(
    samples: Mapping[str, ReplicaSample], present: Mapping[str, int]
) -> dict[str, int]:
    """The cost of each replica that answered: fewest requests in flight first, then fewest tokens
    in its backlog; equal ones have the same.

    `present` are the costs that replicas have; one that does not answer keeps its own, and goes
    last: nobody knows that it is empty. So all others are below those, and below 0, what a pod has
    that nobody ever gave a cost.
    """
    loads = {name: _load(sample) for name, sample in samples.items() if _is_known(sample)}
    ranks = {load: rank for rank, load in enumerate(sorted(set(loads.values())))}
    lowest = min([0, *(cost for name, cost in present.items() if name not in loads)])
    return {name: lowest + ranks[load] - len(ranks) for name, load in loads.items()}


def _is_known(sample: ReplicaSample) -> bool:
    return sample.requests_in_flight is not None and bool(sample.backlog_tokens)


def _load(sample: ReplicaSample) -> tuple[float, float]:
    return sample.requests_in_flight or 0.0, sum(sample.backlog_tokens.values())
