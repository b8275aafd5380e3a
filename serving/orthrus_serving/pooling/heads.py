"""The heads by the name that users give them."""

from collections.abc import Mapping
from types import MappingProxyType

from orthrus_serving.pooling.cls import ClsHead
from orthrus_serving.pooling.head import PoolingHead
from orthrus_serving.pooling.last import LastHead
from orthrus_serving.pooling.mean import MeanHead
from orthrus_serving.pooling.weighted_mean import WeightedMeanHead

HEADS: Mapping[str, PoolingHead] = MappingProxyType(
    {
        "mean": MeanHead(),
        "weighted-mean": WeightedMeanHead(),
        "last": LastHead(),
        "cls": ClsHead(),
    }
)
