"""`python -m e2e.cluster`: one line on standard output for scripts, progress and errors on standard error."""

import sys
from typing import Annotated

import typer

from e2e.cluster import lifecycle
from e2e.cluster.cluster import Cluster
from e2e.cluster.errors import ClusterError
from e2e.cluster.layout import MAX_NODES, Layout
from e2e.cluster.node import FAKE_GPUS
from e2e.cluster.progress import console
from e2e.cluster.requirements import check_node_requirements
from e2e.cluster.tools import all_tools

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
def down() -> None:
    """End the cluster and everything that it left on this machine."""
    lifecycle.down(_local())


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
    except ClusterError as error:
        console.print("[red]✗[/] ", end="")
        console.print(str(error), markup=False, soft_wrap=True)
        sys.exit(1)
