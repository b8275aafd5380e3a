"""What every kind of test may use."""

from pathlib import Path

import pytest

from e2e.sample_model import sample_model as make_sample_model


@pytest.fixture(scope="session")
def sample_model() -> Path:
    """Folder of the SmolLM2 checkpoint; made on first use."""
    return make_sample_model()
