"""The cluster that tests and the demo use: ours on this machine, or the one of KUBECONFIG."""

import os
from dataclasses import dataclass
from pathlib import Path

from e2e.cluster import tools
from e2e.cluster.errors import ClusterError
from e2e.cluster.image_loading import load_image
from e2e.cluster.layout import Layout
from e2e.cluster.requirements import IMAGE_FILES, check_files, check_node_requirements
from e2e.cluster.up import up


@dataclass(frozen=True)
class Cluster:
    """A cluster to use. `local` is None for one that we did not start: it is left as it is."""

    kubeconfig: Path
    local: Layout | None

    @classmethod
    def current(cls) -> "Cluster":
        """The cluster of KUBECONFIG when set, else the local one of `$ORTHRUS_CLUSTER_NAME`.

        Raises:
            ClusterError: KUBECONFIG names no file.
        """
        layout = Layout.of()
        named = os.environ.get("KUBECONFIG")
        if not named:
            return cls(layout.kubeconfig, layout)
        path = Path(named).resolve()
        if path == layout.kubeconfig.resolve():
            return cls(layout.kubeconfig, layout)
        if not path.is_file():
            raise ClusterError(f"KUBECONFIG is {named}: there is no such file")
        return cls(path, None)

    def up(self, nodes: int | None = None) -> None:
        """Have it run; see `up.up`. A cluster that is not ours is left as it is."""
        if self.local:
            check_node_requirements()
            up(self.local, nodes)

    def load_image(self, reference: str, archive: Path | None = None) -> None:
        """Have every node hold the image `reference` of buildah's storage, or of `archive`.

        Raises:
            ClusterError: there is no such image, the cluster is down, or it is not ours.
        """
        if self.local is None:
            raise ClusterError(
                f"KUBECONFIG is set to a cluster that was not started here: push {reference} to a "
                "registry that it pulls from, or use its own command (such as kind load)"
            )
        check_node_requirements()
        if archive is None:
            check_files(IMAGE_FILES)
        load_image(self.local, reference, archive)

    def tool(self, command: str) -> Path:
        """The path of kubectl, helm, ..., built first if need be."""
        return tools.tool(command)
