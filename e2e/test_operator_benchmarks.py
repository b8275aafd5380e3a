"""The operator's benchmarks measure what they say, at a size that fits."""

import pytest

from e2e.cluster import Cluster
from e2e.cluster.cgroups import processes
from e2e.operator_benchmarks.bench_cluster import bench_cluster
from e2e.operator_benchmarks.figures import Figure
from e2e.operator_benchmarks.run import measure
from e2e.operator_benchmarks.sizes import FULL, SMALL, Sizes

pytestmark = [pytest.mark.cluster, pytest.mark.long]


async def measured(sizes: Sizes) -> dict[str, Figure]:
    if Cluster.current().local is None:
        pytest.skip("KUBECONFIG is set to another cluster, and this starts one of its own")
    figures: dict[str, Figure] = {}
    with bench_cluster(sizes) as cluster:
        await measure(cluster, sizes, lambda figure: figures.update({figure.name: figure}))
        group = cluster.layout.cgroup
        assert processes(group)
    assert not processes(group)
    return figures


def beginning(figures: dict[str, Figure], name: str) -> Figure:
    [found] = [figure for figure in figures.values() if figure.name.startswith(name)]
    return found


@pytest.mark.timeout(900)
async def test_every_part_works_and_nothing_is_written_in_steady_state() -> None:
    figures = await measured(SMALL)
    assert beginning(figures, "steady state: writes").value == 0
    assert beginning(figures, "memory of the operator at its highest").value > 30
    # Reads of its children, an apply, a status: an API server that logs nothing would give 0.
    assert beginning(figures, "one replica more, 4 changes/s, 8 of them: API").value > 10
    assert all(figure.value > 0 for figure in figures.values() if figure.unit == "s")


@pytest.mark.timeout(3600)
async def test_five_hundred_objects_cause_no_writes_and_fit_into_memory() -> None:
    """Times depend on the machine: `make bench-operator` shows them beside their goals."""
    figures = await measured(FULL)
    assert beginning(figures, "steady state: writes").value == 0
    assert beginning(figures, "memory of the operator at its highest").verdict == "met"
