"""`python -m e2e.monitoring`: the monitoring parts of the local cluster, and generated files."""

import sys

import typer

from e2e.cluster import Cluster, ClusterError
from e2e.cluster.progress import console
from e2e.kubectl import KubectlError
from e2e.monitoring.generated import generated_files
from e2e.monitoring.parts import Monitoring
from e2e.monitoring.tools import PROMETHEUS, PROMETHEUS_ADAPTER

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.command()
def up() -> None:
    """Have Prometheus and its adapter run in the local cluster; print the address of the first."""
    parts = Monitoring(Cluster.current())
    parts.start()
    print(parts.prometheus.url)


@app.command()
def down() -> None:
    """Remove them."""
    Monitoring(Cluster.current()).stop()


@app.command()
def tools() -> None:
    """Build them, and print where they are."""
    for module in (PROMETHEUS, PROMETHEUS_ADAPTER):
        for name in module.commands:
            print(f"{name}\t{module.built() / name}")


@app.command()
def generate() -> None:
    """Write the dashboard, and the chart's copies of it and of the rules."""
    for path, content in generated_files().items():
        path.write_text(content)


try:
    app()
except (ClusterError, KubectlError) as error:
    console.print(str(error), markup=False, soft_wrap=True)
    sys.exit(1)
