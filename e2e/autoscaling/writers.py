"""Who wrote `spec.replicas`, by the API server's own records of field ownership."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from e2e.kubectl import Kubectl


class Writers:
    """Every version of one object, as a watch delivered it into `file`."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def of_replicas(self) -> Counter[str]:
        """How often each field manager changed `spec.replicas`; 0 for one that wrote it unchanged,
        no entry for one that never did."""
        changes: Counter[str] = Counter()
        before = None
        for version in self._versions():
            now = version["spec"].get("replicas")
            for entry in version["metadata"].get("managedFields", []):
                if "f:replicas" in entry.get("fieldsV1", {}).get("f:spec", {}):
                    changes[entry["manager"]] += before is not None and now != before
            before = now
        return changes

    def managers(self) -> set[str]:
        """Everyone who wrote anything."""
        return {
            entry["manager"]
            for version in self._versions()
            for entry in version["metadata"].get("managedFields", [])
        }

    def _versions(self) -> Iterator[dict[str, Any]]:
        decoder, text = json.JSONDecoder(), self._file.read_text().lstrip()
        while text:
            try:
                version, end = decoder.raw_decode(text)
            except ValueError:
                return  # the watch was ended while it wrote
            yield version
            text = text[end:].lstrip()


@contextmanager
def watched(kubectl: Kubectl, name: str, file: Path) -> Iterator[Writers]:
    """Record every version of the OrthrusDeployment `name` until the context ends."""
    command = [*kubectl.command(), "get", "orth", name, "--watch", "-o=json"]
    with (
        file.open("w") as versions,
        subprocess.Popen([*command, "--show-managed-fields"], stdout=versions) as watch,
    ):
        try:
            yield Writers(file)
        finally:
            watch.terminate()
