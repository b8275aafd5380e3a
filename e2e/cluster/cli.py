"""`python -m e2e.cluster`: results on standard output, progress and errors on standard error."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from e2e.cluster.cluster import Cluster
from e2e.cluster.down import down as take_down
from e2e.cluster.errors import ClusterError
from e2e.cluster.layout import MAX_NODES, Layout
from e2e.cluster.node import FAKE_GPUS
from e2e.cluster.progress import console
from e2e.cluster.requirements import check_node_requirements
from e2e.cluster.status import status
from e2e.cluster.tools import all_tools
from e2e.kubectl import KubectlError

app = typer.Typer(
    help="A real Kubernetes on this one machine (its GPUs are fake).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def up(
    nodes: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_NODES, help="How many; default: as it is, else one."),
    ] = None,
) -> None:
    """Start the cluster, or what is missing of it."""
    cluster = Cluster.current()
    cluster.up(nodes)
    if cluster.local is None:
        console.print("KUBECONFIG is set: using that cluster, nothing to start")
        return
    console.print(f"{FAKE_GPUS} fake GPUs per node. To use it:", markup=False)
    print(f"export KUBECONFIG={cluster.kubeconfig}")


@app.command()
def down(
    *,
    images: Annotated[
        bool, typer.Option("--images", help="Forget the images that its nodes have loaded, too.")
    ] = False,
) -> None:
    """End the cluster and everything that it left on this machine; logs stay."""
    take_down(_local(), keep_images=not images)


@app.command("status")
def show_status() -> None:
    """Say what runs; the exit status is 0 when the cluster can be used."""
    found = status(_local())
    for name, pid in found.components.items():
        print(f"{name}\t{f'pid {pid}' if pid else 'ended'}")
    for name, sentence in found.nodes.items():
        print(f"{name}\t{sentence}")
    if found.problem:
        raise ClusterError(f"the cluster cannot be used: {found.problem}")


@app.command()
def load_image(
    reference: Annotated[str, typer.Argument(help="Name of an image in buildah's storage.")],
    archive: Annotated[
        Path | None,
        typer.Option(help="Import this archive (OCI or docker-archive) that holds it instead."),
    ] = None,
) -> None:
    """Have every node hold an image; nothing happens where it is already."""
    Cluster.current().load_image(reference, archive)


@app.command()
def kubeconfig() -> None:
    """Print the path of the kubeconfig."""
    print(Cluster.current().kubeconfig)


@app.command()
def tools() -> None:
    """Build the commands that the cluster is made of, and print where they are."""
    for name, path in all_tools().items():
        print(f"{name}\t{path}")


def _local() -> Layout:
    cluster = Cluster.current()
    if cluster.local is None:
        raise ClusterError("KUBECONFIG is set to a cluster that was not started here: left alone")
    check_node_requirements()
    return cluster.local


def main() -> None:
    """Run the command line; an expected failure is one line and status 1."""
    try:
        app()
    except (ClusterError, KubectlError) as error:
        console.print("[red]✗[/] ", end="")
        console.print(str(error), markup=False, soft_wrap=True)
        sys.exit(1)
