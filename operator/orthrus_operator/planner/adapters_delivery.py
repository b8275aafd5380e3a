"""Which pods lack the present adapters file.

The kubelet looks at the volumes of a pod about once a minute, but at once when the pod changes: so
an annotation brings the file within seconds.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from orthrus_operator.api.adapters import Adapter
from orthrus_operator.builders.adapters import declaration_digest
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.replica_report import ReplicaReport

DELIVERED = "serving.orthrus.io/adapters-file"
"""The annotation; its value is of no use but to differ with the file."""


def file_mark(declared: Iterable[Adapter]) -> str:
    """The value of DELIVERED for a file that declares these."""
    return _mark([declaration_digest(adapter) for adapter in declared])


def lacking_the_file(
    declared: Iterable[Adapter],
    pods: Iterable[KubernetesObject],
    reports: Mapping[str, ReplicaReport],
) -> list[KubernetesObject]:
    """Pods whose replica, by `reports` (by uid), has other adapters, and that were not told yet.

    One that is new, or says nothing, has read the file at its start.
    """
    digests = [declaration_digest(adapter) for adapter in declared]
    wanted, mark = set(digests), _mark(digests)
    return [
        pod
        for pod in pods
        if (report := reports.get(pod["metadata"]["uid"])) is not None
        and report.adapters is not None
        and {each.declaration for each in report.adapters} != wanted
        and pod["metadata"].get("annotations", {}).get(DELIVERED) != mark
    ]


def _mark(digests: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()[:16]
