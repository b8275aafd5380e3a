"""kubectl against one kubeconfig, for what the cluster asks of its own API server."""

import json
from pathlib import Path
from typing import Any

from e2e.cluster.commands import run
from e2e.cluster.tools import tool


class Kubectl:
    def __init__(self, kubeconfig: Path) -> None:
        self._prefix = (tool("kubectl"), f"--kubeconfig={kubeconfig}")

    def __call__(self, *words: str, stdin: str | None = None, seconds: float = 60) -> str:
        """Run `kubectl words` and return what it prints.

        Raises:
            ClusterError: it failed.
        """
        return run([*self._prefix, *words], stdin=stdin, seconds=seconds)

    def get(self, *words: str) -> dict[str, Any]:
        """The object or list that `kubectl get words` finds."""
        found: dict[str, Any] = json.loads(self("get", *words, "--output=json"))
        return found

    def apply(self, manifest: str) -> None:
        """Server-side apply: an unchanged object stays untouched."""
        self(*("apply", "--server-side", "--force-conflicts", "--filename=-"), stdin=manifest)
