"""Whether the vectors of all replicas may be compared."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from orthrus_operator.api.status import ConditionType
from orthrus_operator.planner.conditions import Verdict
from orthrus_operator.planner.replica_report import ReplicaReport

SPACE_CONDITION: ConditionType = "EmbeddingSpaceConsistent"


def common_space(replicas: Sequence[ReplicaReport], name: str) -> str | None:
    """The space of the model `name`, if all replicas that embed under that name agree."""
    found = {replica.spaces[name] for replica in replicas if name in replica.spaces}
    return found.pop() if len(found) == 1 else None


def space_verdict(replicas: Sequence[ReplicaReport]) -> Verdict | None:
    """The condition EmbeddingSpaceConsistent; None while no replica has told of its vectors.

    A name that only some replicas serve, since the others still load it, is compared between those.
    """
    pods: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for replica in replicas:
        for model, space in replica.spaces.items():
            pods[model][space].append(replica.pod)
    if not pods:
        return None
    differing = [_told(model, spaces) for model, spaces in pods.items() if len(spaces) > 1]
    if differing:
        message = (
            f"vectors that must not be compared: {'; '.join(differing)}. While a rollout goes on it"
            " ends by itself; else pin spec.model.revision to a commit and restart the older pods"
        )
        return Verdict(SPACE_CONDITION, "False", "SpacesDiffer", message)
    return Verdict(SPACE_CONDITION, "True", "OneSpace", "all vectors of a model may be compared")


def _told(model: str, spaces: Mapping[str, Sequence[str]]) -> str:
    parts = (f"{space} of {', '.join(sorted(pods))}" for space, pods in sorted(spaces.items()))
    return f"{model} has {' and '.join(parts)}"
