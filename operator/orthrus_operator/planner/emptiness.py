"""Which replicas a scale-down should take: the emptiest."""

from collections.abc import Mapping

from orthrus_operator.planner.replica_sample import ReplicaSample

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
"""Annotation by which a ReplicaSet chooses among ready pods: the lowest goes first."""


def deletion_costs(samples: Mapping[str, ReplicaSample]) -> dict[str, int]:
    """The cost of each replica that answered: fewest requests in flight first, then fewest tokens
    in its backlog; equal ones have the same.

    All are below 0, what a pod has that nobody ever gave a cost: of a replica that does not answer
    nobody knows that it is empty.
    """
    loads = {name: _load(sample) for name, sample in samples.items() if _is_known(sample)}
    ranks = {load: rank for rank, load in enumerate(sorted(set(loads.values())))}
    return {name: ranks[load] - len(ranks) for name, load in loads.items()}


def _is_known(sample: ReplicaSample) -> bool:
    return sample.requests_in_flight is not None and bool(sample.backlog_tokens)


def _load(sample: ReplicaSample) -> tuple[float, float]:
    return sample.requests_in_flight or 0.0, sum(sample.backlog_tokens.values())
