"""Specs made from the CRD's own schema: wrong ones with the field to blame, and right ones."""

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from orthrus_operator.api.crd import object_schema
from orthrus_operator.api.engine_arguments import REFUSED_FLAGS
from orthrus_operator.api.schema import Schema

Spec = dict[str, Any]
Path = tuple[str | int, ...]

SCHEMA: Schema = object_schema()["properties"]["spec"]
_SAMPLES: dict[str, Any] = {
    "source": "hf://org/model",
    "mountPath": "/extra",
    "path": "/mnt/models",
    "resourceName": "nvidia.com/mig-3g.40gb",
}
"""Valid values of strings that a rule restricts, by the name of the field."""


class Wrong(NamedTuple):
    """A spec that must be refused."""

    what: str
    spec: Spec
    field: str
    """Path that the message must name."""


def wrong_specs() -> Iterator[Wrong]:
    """Every field with every kind of value that its schema rules out, one at a time."""
    yield from _wrong(SCHEMA, (), "spec")
    for flag in sorted(REFUSED_FLAGS):
        yield Wrong(f"flag {flag}", _spec(("engineArgs",), {flag: "1"}), "spec.engineArgs")


def right_specs(count: int) -> Iterator[Spec]:
    """Random specs of the schema's form; a rule over several fields may still refuse one."""
    chance = random.Random(7)  # noqa: S311
    for _ in range(count):
        yield _random_value(SCHEMA, "spec", chance)


def _wrong(schema: Schema, path: Path, field: str) -> Iterator[Wrong]:
    for what, value in _wrong_values(schema):
        if path:
            yield Wrong(f"{field}: {what}", _spec(path, value), field)
    for name in schema.get("required", []):
        yield Wrong(f"{field}.{name}: absent", _spec_without((*path, name)), f"{field}.{name}")
    if "properties" in schema:
        # Strict decoding does not index lists the way that validation does.
        unknown = _spec((*path, "noSuchField"), 1)
        yield Wrong(f"{field}: unknown field", unknown, f'unknown field "{field}.noSuchField"')
    for name, child in schema.get("properties", {}).items():
        yield from _wrong(child, (*path, name), f"{field}.{name}")
    if "items" in schema:
        yield from _wrong(schema["items"], (*path, 0), f"{field}[0]")
    if "additionalProperties" in schema:
        for what, value in _wrong_values(schema["additionalProperties"]):
            yield Wrong(f"{field}.*: {what}", _spec((*path, "key"), value), field)


def _wrong_values(schema: Schema) -> Iterator[tuple[str, Any]]:
    kind = "quantity" if schema.get("x-kubernetes-int-or-string") else schema["type"]
    other_types: dict[str, list[Any]] = {
        "string": [7, True, ["a"]],
        "integer": ["seven", 1.5, True],
        "boolean": ["yes", 1],
        "object": ["text", 7, ["a"]],
        "array": ["text", 7, {"a": 1}],
        "quantity": [True, 1.5, {"a": 1}],
    }
    for value in other_types[kind]:
        yield f"type of {value!r}", value
    if "minimum" in schema:
        yield "too low", schema["minimum"] - 1
    if "maximum" in schema:
        yield "too high", schema["maximum"] + 1
    if "maxLength" in schema:
        yield "too long", "x" * (schema["maxLength"] + 1)
    if schema.get("minLength"):
        yield "empty", ""
    if "enum" in schema:
        yield "not listed", "no-such-value"
    if "maxItems" in schema:
        yield "too many", [_least(schema["items"], "")] * (schema["maxItems"] + 1)
    if "maxProperties" in schema:
        value = _least(schema["additionalProperties"], "")
        yield "too many", {f"key{n}": value for n in range(schema["maxProperties"] + 1)}


def _spec(path: Path, value: Any) -> Spec:
    """The least valid spec, with `value` at `path` and what is required on the way to it."""
    spec: Spec = _least(SCHEMA, "spec")
    here: Any = spec
    schema = SCHEMA
    for step, following in pairwise(path):
        if isinstance(step, int):
            here = here[step]
            schema = schema["items"]
        else:
            schema = schema["properties"][step]
            least = [_least(schema["items"], "")] if isinstance(following, int) else None
            here = here.setdefault(step, least or _least(schema, str(step)))
    here[path[-1]] = value
    return spec


def _spec_without(path: Path) -> Spec:
    spec = _spec(path, None)
    here: Any = spec
    for step in path[:-1]:
        here = here[step]
    del here[path[-1]]
    return spec


def _least(schema: Schema, name: str) -> Any:
    """The smallest value that the schema takes; `name` is its field's."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {
            field: _least(schema["properties"][field], field)
            for field in schema.get("required", [])
        }
    kind = schema.get("type", "quantity")
    plain = {"array": [], "boolean": True, "integer": schema.get("minimum", 0), "quantity": 1}
    return plain[kind] if kind in plain else _SAMPLES.get(name, "a")


def _random_value(schema: Schema, name: str, chance: random.Random) -> Any:
    if schema.get("type") == "object":
        return _random_object(schema, chance)
    if schema.get("type") == "array":
        return [_random_value(schema["items"], name, chance)] * chance.randint(0, 1)
    return chance.choice(_some_values(schema, name, chance))


def _random_object(schema: Schema, chance: random.Random) -> Any:
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return chance.choice([{}, {"name": "thing"}, {"a": [{"b": 1}]}])
    if "additionalProperties" in schema:
        keys = chance.sample(["seed", "block-size", "dtype"], chance.randint(0, 3))
        return {key: _random_value(schema["additionalProperties"], "", chance) for key in keys}
    return {
        field: _random_value(child, field, chance)
        for field, child in schema.get("properties", {}).items()
        if field in schema.get("required", []) or chance.random() < 0.4
    }


def _some_values(schema: Schema, name: str, chance: random.Random) -> list[Any]:
    if "enum" in schema:
        return list(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return [1, "25%"] if name.startswith("max") else [1, "500m", "16Gi"]
    if schema["type"] == "integer":
        low, high = schema.get("minimum", 0), schema.get("maximum", 1000)
        return [low, high, chance.randint(low, high)]
    return [True, False] if schema["type"] == "boolean" else [_SAMPLES.get(name, "a")]
