"""A node's containerd, spoken to with its own command-line client inside the node."""

import subprocess
from collections.abc import Iterable

from e2e.cluster.commands import run
from e2e.cluster.errors import ClusterError
from e2e.cluster.namespaces import Namespaces

_CTR = (
    "ctr",
    "--namespace=k8s.io",
)  # the name space that the kubelet's images and containers are in


class Containers:
    """Images of one node."""

    def __init__(self, inside: Namespaces) -> None:
        self._inside = inside

    def ctr(self, *words: str, seconds: float = 60) -> str:
        return run(self._inside.enter(*_CTR, *words), seconds=seconds)

    def has_image(self, reference: str) -> bool:
        return reference in self.ctr("images", "list", "--quiet").split()

    def import_archive(self, chunks: Iterable[bytes]) -> None:
        """Import the image archive (OCI layout or `docker save`, a tar stream) and unpack it.

        Raises:
            ClusterError: containerd refuses it; the message is its last line.
        """
        command = self._inside.enter(*_CTR, "images", "import", "-")
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as importing:
            assert importing.stdin is not None, "asked for a pipe"
            assert importing.stdout is not None, "asked for a pipe"
            try:
                for chunk in chunks:
                    importing.stdin.write(chunk)
                importing.stdin.close()
            except BrokenPipeError:
                pass  # it says why below
            said = importing.stdout.read().decode(errors="replace").strip()
        if importing.returncode:
            raise ClusterError(f"containerd refuses the image: {said.splitlines()[-1:]}")
