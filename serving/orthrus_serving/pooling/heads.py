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

HEADS: Mapping[str, PoolingHead] = MappingProxyType(
    {point.name: BufferedHead(point.load) for point in entry_points(group=ENTRY_POINTS)}
    | {
        "mean": MeanHead(),
        "weighted-mean": WeightedMeanHead(),
        "last": LastHead(),
        "cls": ClsHead(),
    }
)
