"""Folders of the node: whoever may use any of them may read the whole node.

Only the very folders that are allowed: a replica could plant a symbolic link in a folder that it
may write, and a later pod that names the link would mount whatever it leads to.
"""

from collections.abc import Iterator

from orthrus_operator.api.model import HostSource
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.planner.problem import Problem


def host_path_problem(orthrus: OrthrusDeployment, allowed: tuple[str, ...]) -> Problem | None:
    """The first folder of the spec that is none of `allowed`."""
    for field, path in _host_paths(orthrus):
        if path not in allowed:
            where = f"allows {', '.join(allowed)} only" if allowed else "allows none"
            return Problem(
                "HostPathNotAllowed",
                f"{field} is {path} on the node, and this operator {where}: use a persistent"
                " volume claim, or have hostPaths of the chart's values extended",
                stalled=True,
            )
    return None


def _host_paths(orthrus: OrthrusDeployment) -> Iterator[tuple[str, str]]:
    """Each field that names a folder of the node, with the folder."""
    model = orthrus.spec.model
    source = model.location()
    if isinstance(source, HostSource):
        yield "spec.model.source", source.path
    if model.cache and model.cache.host_path:
        yield "spec.model.cache.hostPath.path", model.cache.host_path.path
    template = orthrus.spec.pod_template
    for volume in (template and template.spec and template.spec.volumes) or ():
        if volume.host_path:
            yield (
                f"spec.podTemplate.spec.volumes[{volume.name}].hostPath.path",
                volume.host_path.path,
            )
