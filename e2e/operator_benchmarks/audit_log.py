"""What the API server says that the operator asked of it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LARGEST_MB = 10_000
"""A log that is replaced by a new one would lose count."""
_READS = frozenset({"get", "list", "watch"})


@dataclass(frozen=True)
class Request:
    """One request of the operator that was answered."""

    verb: str
    resource: str
    """With its subresource."""
    is_poll: bool
    """Whether it belongs to the look at everything, every 15 seconds, for the metrics."""

    @property
    def is_write(self) -> bool:
        """Renewals of the Lease are none."""
        return self.verb not in _READS and self.resource != "leases"


class AuditLog:
    """The log of an API server that runs with `flags`."""

    def __init__(self, folder: Path, namespace: str) -> None:
        """Only what the service accounts of `namespace` do is logged."""
        self._policy = folder / "audit-policy.json"
        self._log = folder / "audit.log"
        rules = [
            {"level": "Metadata", "userGroups": [f"system:serviceaccounts:{namespace}"]},
            {"level": "None"},
        ]
        policy = {
            "apiVersion": "audit.k8s.io/v1",
            "kind": "Policy",
            "omitStages": ["RequestReceived", "ResponseStarted"],
            "rules": rules,
        }
        folder.mkdir(parents=True, exist_ok=True)
        self._policy.write_text(json.dumps(policy))

    @property
    def flags(self) -> dict[str, object]:
        """Of the API server."""
        return {
            "audit-policy-file": self._policy,
            "audit-log-path": self._log,
            "audit-log-maxsize": _LARGEST_MB,
        }

    def position(self) -> int:
        """The end of what is there by now, for `since`."""
        return self._log.stat().st_size if self._log.exists() else 0

    def since(self, position: int) -> Sequence[Request]:
        """All requests that ended after `position`; a watch ends when its connection does."""
        with self._log.open() as log:
            log.seek(position)
            lines = [line for line in log if line.endswith("\n")]
        return [_request(json.loads(line)) for line in lines]


def _request(event: dict[str, Any]) -> Request:
    about = event.get("objectRef", {})
    parts = (about.get("resource", event["requestURI"]), about.get("subresource"))
    return Request(
        verb=event["verb"],
        resource="/".join(part for part in parts if part),
        is_poll="limit=" in event["requestURI"] and "watch=" not in event["requestURI"],
    )
