"""Incremental pooling of hidden states, chunk by chunk (paper §3)."""

from orthrus_serving.pooling.buffered import BufferedHead
from orthrus_serving.pooling.heads import HEADS, head_identity, head_needs_every_token
from orthrus_serving.pooling.pooler import IncrementalPooler
from orthrus_serving.pooling.progress import Chunk, PoolingRequest
from orthrus_serving.pooling.results import PooledStep

__all__ = [
    "HEADS",
    "BufferedHead",
    "Chunk",
    "IncrementalPooler",
    "PooledStep",
    "PoolingRequest",
    "head_identity",
    "head_needs_every_token",
]
