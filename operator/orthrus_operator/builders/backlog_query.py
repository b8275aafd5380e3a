"""The backlog of an OrthrusDeployment in PromQL, such that missing data never scales down."""

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.builders.horizontal_pod_autoscaler import BACKLOG_METRIC


def backlog_query(orthrus: OrthrusDeployment) -> str:
    """One value: the backlog, with what silent replicas may have.

    It makes of a total what the HPA's controller makes of a metric of pods. With S the backlog of
    the replicas that answer, T the target of one, and silent those of which Prometheus knows and
    which do not answer (they load, hang, or the scrape failed), the value is

        max(S, min(S + T * silent, T * known))

    so that a silent replica counts as at the target, but never asks for one that is not there: else
    those that load would call for more of their kind. Without any answer there is no value, not 0.
    """
    # By name, since every scrape configuration has these two labels. No other object's pods match:
    # a Deployment's have the letters of Kubernetes' random names alone. A long name is cut, with
    # the second hyphen.
    letters = "[bcdfghjklmnpqrstvwxz2456789]"
    pods = (
        f'namespace="{orthrus.metadata.namespace}",'
        f'pod=~"{orthrus.metadata.name}-{letters}{{5,10}}-?{letters}{{5}}"'
    )
    target = orthrus.backlog_target
    # NaN is not >= 0, and max takes one of two scrapes of the same pod.
    backlog = f"max by (pod, type) ({BACKLOG_METRIC}{{{pods}}} >= 0)"
    total = f"sum({backlog})"
    known = f"(count(count by (pod) (up{{{pods}}})) or vector(0))"
    answering = f"count(count by (pod) ({backlog}))"
    at_target = f"{total} + {target} * ({known} - {answering})"
    return f"clamp_min(clamp_max({at_target}, {target} * scalar({known})), scalar({total}))"
