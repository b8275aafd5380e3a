"""What was asked for is found in the answer, or the first missing field is named."""

import copy
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from orthrus_operator.planner.containment import Difference, differences, missing_field

LEAVES = st.integers() | st.booleans() | st.text(max_size=4)
OBJECTS = st.recursive(
    LEAVES,
    lambda inner: (
        st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=4)
        | st.lists(st.dictionaries(st.text("abc", min_size=1), inner, max_size=3), max_size=3)
    ),
    max_leaves=12,
)


@given(OBJECTS)
def test_everything_contains_itself(thing: Any) -> None:
    assert missing_field(thing, copy.deepcopy(thing)) is None


@given(st.dictionaries(st.sampled_from("abc"), OBJECTS, min_size=1, max_size=3), st.data())
def test_a_field_that_was_dropped_is_named(thing: dict[str, Any], data: st.DataObject) -> None:
    dropped = data.draw(st.sampled_from(sorted(thing)))
    assume(thing[dropped] not in ("", [], {}))
    rest = {key: value for key, value in thing.items() if key != dropped}
    assert missing_field(thing, rest) == dropped


@given(OBJECTS, st.dictionaries(st.sampled_from("xyz"), LEAVES))
def test_what_others_add_does_not_matter(thing: Any, more: dict[str, Any]) -> None:
    assert missing_field({"a": thing}, {"a": thing, **more}) is None


@pytest.mark.parametrize(
    ("desired", "actual", "missing"),
    [
        (
            {"volumes": [{"name": "a"}, {"name": "b", "image": {"reference": "x"}}]},
            {"volumes": [{"name": "b"}, {"name": "a"}]},
            "volumes[1].image",
        ),
        (
            {"volumes": [{"name": "b", "image": {"reference": "x"}}]},
            {"volumes": [{"name": "b"}, {"name": "injected"}]},
            "volumes[0].image",
        ),
        ({"env": [{"name": "A"}]}, {"env": [{"name": "injected"}, {"name": "A"}]}, None),
        ({"args": ["a", "b"]}, {"args": ["b", "a"]}, "args"),
        ({"a": {"b": 1}}, {"a": None}, "a"),
        ({"list": [{"x": 1}]}, {}, "list"),
        ({"list": [{"x": 1}]}, {"list": []}, "list[0]"),
        ({"limits": {"memory": "16384Ki"}}, {"limits": {"memory": "16Mi"}}, None),
        ({"limits": {"memory": "17Mi"}}, {"limits": {"memory": "16Mi"}}, "limits.memory"),
        ({"sizeLimit": "1024Mi"}, {"sizeLimit": "1Gi"}, None),
        ({"value": "1000m"}, {"value": "1"}, "value"),
    ],
)
def test_lists_and_quantities(desired: Any, actual: Any, missing: str | None) -> None:
    assert missing_field(desired, actual) == missing


@pytest.mark.parametrize(
    "left_out",
    [
        {"value": ""},
        {"subPath": ""},
        {"tolerations": []},
        {"nodeSelector": {}},
        {"readOnly": False},
    ],
)
def test_what_the_api_server_leaves_out_is_not_missing(left_out: dict[str, Any]) -> None:
    assert missing_field({"name": "a", **left_out}, {"name": "a"}) is None


@pytest.mark.parametrize("asked", [{"emptyDir": {}}, {"allowPrivilegeEscalation": False}])
def test_an_empty_value_that_asks_for_something_may_not_be_left_out(asked: dict[str, Any]) -> None:
    assert missing_field({"name": "a", **asked}, {"name": "a"}) == next(iter(asked))


def test_a_divisor_is_compared_as_a_quantity() -> None:
    assert missing_field({"divisor": "1000m"}, {"divisor": "1"}) is None


@pytest.mark.parametrize(
    ("desired", "actual", "found"),
    [
        ({"image": "a"}, {"image": "b"}, ("image", "a", "b")),
        ({"image": "a"}, {}, ("image", "a", None)),
        ({"args": ["a"]}, {"args": ["b"]}, ("args", ["a"], ["b"])),
        ({"in": [{"name": "x", "v": 1}]}, {"in": [{"name": "x", "v": 2}]}, ("in[0].v", 1, 2)),
        ({"in": [{"name": "x"}]}, {"in": [{"name": "y"}]}, ("in[0]", {"name": "x"}, None)),
        ({"in": [{"v": 1}]}, {"in": [{"v": 2}]}, ("in[0].v", 1, 2)),
        ({"in": [{"v": 1}, {"v": 2}]}, {"in": [{"v": 1}]}, ("in[1]", {"v": 2}, None)),
    ],
)
def test_what_is_gone_is_told_from_what_has_another_value(
    desired: Any, actual: Any, found: tuple[str, Any, Any]
) -> None:
    assert list(differences(desired, actual)) == [Difference(*found)]


def test_one_difference_does_not_hide_another() -> None:
    desired = {"containers": [{"name": "c", "image": "a"}], "volumes": [{"name": "v", "image": {}}]}
    actual = {"containers": [{"name": "c", "image": "b"}], "volumes": []}
    fields = [(each.field, each.found) for each in differences(desired, actual)]
    assert fields == [("containers[0].image", "b"), ("volumes[0]", None)]
