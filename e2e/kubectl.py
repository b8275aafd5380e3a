"""kubectl as the scenarios use it: what a user would type, answers as Python values."""

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.waiting import wait_until


class KubectlError(RuntimeError):
    """kubectl failed; the message is what it printed."""


@dataclass(frozen=True)
class Kubectl:
    """One kubectl bound to a cluster and a namespace."""

    program: Path
    kubeconfig: Path
    namespace: str = "default"

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        """Run `kubectl ARGUMENTS` and return its output.

        Raises:
            KubectlError: it exited with an error.
        """
        done = subprocess.run(
            [*self.command(), *arguments], input=stdin, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise KubectlError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def command(self) -> Sequence[str]:
        return [
            str(self.program),
            f"--kubeconfig={self.kubeconfig}",
            f"--namespace={self.namespace}",
        ]

    def apply(self, *objects: dict[str, Any]) -> str:
        return self("apply", "-f", "-", stdin="\n---\n".join(json.dumps(o) for o in objects))

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        """The object, or None when there is none of that name."""
        found = self("get", kind, name, "--ignore-not-found", "-o", "json")
        return json.loads(found) if found else None

    def list(self, kind: str, selector: str = "") -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = json.loads(
            self("get", kind, f"--selector={selector}", "-o", "json")
        )["items"]
        return items

    def wait_established(self, *crds: str) -> None:
        """Wait until the API server serves the kinds of `crds`, which are arguments of kubectl.

        `kubectl wait` fails at once on a CRD whose status nobody has written yet.
        """
        insist(
            "established kinds",
            lambda: self("wait", "--for=condition=Established", *crds),
            within=60,
        )


def insist(what: str, act: Callable[[], object], *, within: float) -> None:
    """Call `act` until kubectl does not fail in it.

    Raises:
        TimeoutError: not within `within` seconds; names what kubectl said last.
    """

    def problem() -> str:
        try:
            act()
        except KubectlError as error:
            return str(error)
        return ""

    wait_until(what, problem, lambda found: not found, within=within, every=0.2)
