"""The emptiest replica has the lowest cost; one that does not answer keeps its own."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from orthrus_operator.planner.emptiness import deletion_costs
from orthrus_operator.planner.replica_sample import ReplicaSample


def sample(in_flight: float | None, backlog: float | None = 0) -> ReplicaSample:
    tokens = {} if backlog is None else {"embedding": backlog / 2, "generation": backlog / 2}
    return ReplicaSample(requests_in_flight=in_flight, backlog_tokens=tokens)


def test_requests_in_flight_come_before_tokens_that_wait() -> None:
    samples = {"a": sample(2, 0), "b": sample(1, 9000), "c": sample(1, 10)}
    assert deletion_costs(samples, {}) == {"c": -3, "b": -2, "a": -1}


def test_equals_have_the_same_cost_so_that_kubernetes_chooses() -> None:
    assert deletion_costs({"a": sample(0), "b": sample(0)}, {}) == {"a": -1, "b": -1}


def test_of_one_that_does_not_say_what_it_has_nothing_is_written() -> None:
    samples = {"a": sample(0), "silent engine": sample(0, None), "no vLLM": sample(None, 5)}
    assert deletion_costs(samples, {}) == {"a": -1}
    assert deletion_costs({}, {}) == {}


def test_one_that_is_silent_now_keeps_an_old_cost_and_still_goes_last() -> None:
    before = {"busy": -3, "c": -2, "d": -1}
    assert deletion_costs({"c": sample(0), "d": sample(1)}, before) == {"c": -5, "d": -4}


LOADS = st.dictionaries(
    st.text("abc", min_size=1), st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=8
)


@given(LOADS)
def test_costs_order_replicas_as_their_loads_do_and_stay_below_an_unwritten_one(
    loads: dict[str, tuple[int, int]],
) -> None:
    costs = deletion_costs({name: sample(*load) for name, load in loads.items()}, {})
    assert costs.keys() == loads.keys()
    assert all(cost < 0 for cost in costs.values())
    for one, other in product(loads, repeat=2):
        assert (costs[one] < costs[other]) == (loads[one] < loads[other])
