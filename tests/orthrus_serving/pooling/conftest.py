import pytest
import torch

from orthrus_serving.pooling import IncrementalPooler

CAPACITY = 4
HIDDEN_SIZE = 8


@pytest.fixture
def pooler() -> IncrementalPooler:
    return IncrementalPooler(CAPACITY, HIDDEN_SIZE, torch.device("cpu"))
