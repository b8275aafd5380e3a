"""Waiting ends, and says what it saw last."""

import pytest

from e2e.cluster import ClusterError
from e2e.cluster.waiting import wait_until


def test_the_last_state_is_reported_at_the_deadline() -> None:
    with pytest.raises(ClusterError, match="kettle boils: not within 0 s; last seen: 60 degrees"):
        wait_until("kettle boils", lambda: "60 degrees", seconds=0)


def test_it_ends_as_soon_as_the_check_is_content() -> None:
    states = iter(["cold", "warm", None])
    wait_until("kettle boils", lambda: next(states), seconds=10)
    assert next(states, "nothing left") == "nothing left"
