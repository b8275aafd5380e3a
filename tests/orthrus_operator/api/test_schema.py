"""The converter turns pydantic types into structural schemas, or says which field it cannot."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from orthrus_operator.api.declare import ApiType
from orthrus_operator.api.schema import structural_schema


class Inner(ApiType):
    """An inner object."""

    count: Annotated[int, Field(ge=1)] = 4
    """How many."""
    note: str | None = None


class Outer(ApiType):
    """An outer
    object."""

    inner: Inner = Inner()
    optional: Inner | None = None
    """Instead of the class's words."""
    either: int | str = 1
    maybe_either: int | str | None = None
    one: Literal["only"] = "only"
    by_name: dict[str, Inner] | None = None
    several: list[Inner] | None = None


@pytest.fixture
def properties() -> dict[str, Any]:
    found: dict[str, Any] = structural_schema(Outer)["properties"]
    return found


def keys_anywhere(node: Any) -> set[str]:
    if isinstance(node, dict):
        return set(node) | {key for child in node.values() for key in keys_anywhere(child)}
    if isinstance(node, list):
        return {key for child in node for key in keys_anywhere(child)}
    return set()


def test_references_titles_and_nulls_are_gone(properties: dict[str, Any]) -> None:
    assert not keys_anywhere(properties) & {"$ref", "$defs", "title", "const"}
    assert "null" not in repr(properties)


def test_a_default_object_is_written_out_without_nulls(properties: dict[str, Any]) -> None:
    assert properties["inner"]["default"] == {"count": 4}
    assert "default" not in properties["optional"]


def test_the_words_at_the_field_win_over_those_at_the_class(properties: dict[str, Any]) -> None:
    assert properties["optional"]["description"] == "Instead of the class's words."
    assert properties["inner"]["description"] == "An inner object."


def test_int_or_string_is_marked_for_the_api_server(properties: dict[str, Any]) -> None:
    expected = {"anyOf": [{"type": "integer"}, {"type": "string"}], "default": 1}
    assert properties["either"] == {**expected, "x-kubernetes-int-or-string": True}
    assert properties["maybeEither"]["x-kubernetes-int-or-string"] is True
    assert "default" not in properties["maybeEither"]


def test_maps_and_lists_carry_the_schema_of_their_values(properties: dict[str, Any]) -> None:
    assert properties["byName"]["additionalProperties"]["properties"]["count"]["minimum"] == 1
    assert properties["several"]["items"]["properties"]["count"]["minimum"] == 1


def test_descriptions_are_one_line() -> None:
    assert structural_schema(Outer)["description"] == "An outer object."


@pytest.mark.parametrize("type_", [int | list[str], tuple[int, str], Any])
def test_a_type_that_no_structural_schema_expresses_is_refused_by_name(type_: Any) -> None:
    class Wrong(BaseModel):
        odd: type_

    with pytest.raises(TypeError, match=r"Wrong\.odd"):
        structural_schema(Wrong)
