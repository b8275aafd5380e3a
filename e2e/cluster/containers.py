"""A node's containerd, spoken to with its own command-line client inside the node."""

import json
import subprocess
from pathlib import Path

from e2e.cluster.commands import run
from e2e.cluster.errors import ClusterError
from e2e.cluster.layout import Node
from e2e.cluster.namespaces import Namespaces

_CTR = ("ctr", "--namespace=k8s.io")  # where the kubelet's images and containers are
_KEPT = "containerd.io/gc.root"


class Containers:
    """Images and their unpacked layers (snapshots) on one node."""

    def __init__(self, node: Node, inside: Namespaces) -> None:
        self._node = node
        self._inside = inside

    def images(self) -> dict[str, str]:
        """Digest of the manifest of every image that is ready to run, by reference."""
        lines = self._ctr("images", "check").splitlines()[1:]
        rows = [line.split() for line in lines]
        return {row[0]: row[2] for row in rows if row[-1] == "true"}

    def images_in_use(self) -> set[str]:
        """References of the images that some container, running or not, was made from."""
        return {line.split()[1] for line in self._ctr("containers", "list").splitlines()[1:]}

    def remove_images(self, references: list[str]) -> None:
        """Forget images; their layers go when no other image needs them."""
        self._ctr("images", "remove", "--sync", *references)

    def snapshots(self) -> set[str]:
        """Chain ids of the layers that are unpacked, and names of those being made."""
        return {line.split()[0] for line in self._ctr("snapshots", "list").splitlines()[1:]}

    def prepare_snapshot(self, name: str, parent: str | None) -> Path:
        """Begin the layer `name` on top of `parent`; its files belong in the directory returned."""
        if name in self.snapshots():
            self._ctr("snapshots", "remove", name)
        words = ("snapshots", "prepare", "--mounts", name, *([parent] if parent else []))
        mount = json.loads(self._ctr(*words))[0]
        upper = [option for option in mount["Options"] if option.startswith("upperdir=")]
        inside = upper[0].removeprefix("upperdir=") if upper else mount["Source"]
        return self._node.root / "var-lib" / Path(inside).relative_to("/var/lib")

    def commit_snapshot(self, name: str, chain_id: str) -> None:
        """End the layer `name`, which is from now on the one called `chain_id`."""
        self._ctr("snapshots", "commit", chain_id, name)

    def release_snapshots(self, chain_ids: list[str]) -> None:
        """Let layers go when no image needs them any more: until now they were kept for ever."""
        for chain_id in chain_ids:
            self._ctr("snapshots", "label", chain_id, f"{_KEPT}=")

    def import_archive(self, archive: bytes | Path) -> None:
        """Import an image archive (OCI layout or `docker save`; bytes or a file) and unpack it.

        Raises:
            ClusterError: containerd refuses it; the message ends with its last line.
        """
        command = self._inside.enter(*_CTR, "images", "import", "-")
        if isinstance(archive, Path):
            with archive.open("rb") as file:
                done = subprocess.run(command, stdin=file, capture_output=True, check=False)
        else:
            done = subprocess.run(command, input=archive, capture_output=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).decode(errors="replace").strip()
            raise ClusterError(f"containerd refuses the image: {said.splitlines()[-1:]}")

    def _ctr(self, *words: str) -> str:
        return run(self._inside.enter(*_CTR, *words))
