"""Sizes that are not set fit whatever token budget is."""

from hypothesis import given
from hypothesis import strategies as st

from orthrus_operator.api.scheduling import Scheduling


@given(st.integers(min_value=16, max_value=1_048_576))
def test_defaults_pass_the_rules_for_any_budget(budget: int) -> None:
    scheduling = Scheduling(max_batched_tokens=budget)
    assert 1 <= scheduling.chunk_tokens <= min(512, budget)
    assert 1 <= scheduling.sequences <= 256
    assert scheduling.sequences < budget


def test_sizes_that_are_set_are_kept() -> None:
    scheduling = Scheduling(embedding_chunk_tokens=7, max_sequences=3)
    assert (scheduling.chunk_tokens, scheduling.sequences) == (7, 3)
