"""The CRD says what each field is, and its defaults pass its own rules."""

from collections.abc import Iterator
from typing import Any, get_args

from orthrus_operator.api.crd import custom_resource_definition, object_schema
from orthrus_operator.api.reasons import MEANINGS, Reason


def nodes(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")


def spec_and_status() -> Iterator[tuple[str, dict[str, Any]]]:
    for part in ("spec", "status"):
        yield from nodes(object_schema()["properties"][part], part)


def test_every_field_is_explained() -> None:
    unexplained = [path for path, schema in spec_and_status() if not schema.get("description")]
    assert unexplained == []


def test_a_default_object_holds_the_defaults_of_all_its_fields() -> None:
    """The API server checks rules against a default before it fills in nested ones."""
    for path, schema in spec_and_status():
        if "default" in schema and "properties" in schema:
            inner = {
                name: child["default"]
                for name, child in schema["properties"].items()
                if "default" in child
            }
            assert schema["default"] == inner, path


def test_every_string_list_and_map_that_a_rule_may_walk_is_bounded() -> None:
    for path, schema in spec_and_status():
        if schema.get("type") == "array" and path.startswith("spec"):
            assert "maxItems" in schema, path
        if "additionalProperties" in schema:
            assert "maxProperties" in schema, path


def test_every_rule_says_what_to_change() -> None:
    for path, schema in nodes(object_schema(), ""):
        for rule in schema.get("x-kubernetes-validations", []):
            assert len(rule["message"].split()) >= 4, (path, rule)


def test_kubectl_get_has_the_promised_columns() -> None:
    version = custom_resource_definition()["spec"]["versions"][0]
    shown = [
        (column["name"], column.get("priority", 0))
        for column in version["additionalPrinterColumns"]
    ]
    assert [name for name, priority in shown if priority == 0] == [
        "Model",
        "Ready",
        "Adapters",
        "Policy",
        "Available",
        "Age",
    ]
    assert [name for name, priority in shown if priority == 1] == ["Endpoint", "Message"]


def test_every_reason_is_explained() -> None:
    assert set(MEANINGS) == set(get_args(Reason))
