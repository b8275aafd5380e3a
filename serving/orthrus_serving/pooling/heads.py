"""The heads by the name that users give them."""

from collections.abc import Mapping
from importlib.metadata import entry_points
from types import MappingProxyType

from orthrus_serving.pooling.buffered import BufferedHead
from orthrus_serving.pooling.cls import ClsHead
from orthrus_serving.pooling.head import PoolingHead
from orthrus_serving.pooling.last import LastHead
from orthrus_serving.pooling.mean import MeanHead
from orthrus_serving.pooling.weighted_mean import WeightedMeanHead

ENTRY_POINTS = "orthrus.pooling_heads"
"""Installed packages name their own pooling functions in this group; ours keep their names."""

_OURS: Mapping[str, PoolingHead] = MappingProxyType(
    {
        "mean": MeanHead(),
        "weighted-mean": WeightedMeanHead(),
        "last": LastHead(),
        "cls": ClsHead(),
    }
)
_BROUGHT = {point.name: point for point in entry_points(group=ENTRY_POINTS)}

HEADS: Mapping[str, PoolingHead] = MappingProxyType(
    {**{name: BufferedHead(point.load) for name, point in _BROUGHT.items()}, **_OURS}
)


def head_needs_every_token(name: str | None) -> bool:
    """Whether a head needs the hidden states of all tokens; so does one that is not known."""
    head = HEADS.get(name or "")
    return head is None or head.needs_every_token


def head_identity(name: str) -> str:
    """The name of a head, with package and version where another package brought it: what its
    function computes may change from one version to the next."""
    if name in _OURS or name not in _BROUGHT:
        return name
    package = _BROUGHT[name].dist
    return f"{name} of {package.name} {package.version}" if package else name
