"""From a pydantic type to a structural schema that the API server accepts."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_DROPPED = {"title", "$defs", "additionalProperties"}
_FIRST = ("description", "type", "anyOf", "x-kubernetes-int-or-string", "format", "enum", "default")
_LAST = ("x-kubernetes-validations", "required", "properties", "additionalProperties", "items")


def structural_schema(type_: type[BaseModel]) -> Schema:
    """Structural schema of `type_`, references inlined, null alternatives removed.

    Raises TypeError for a type that no structural schema can express (a union other than with None
    or of int and str, a tuple), naming the field.
    """
    schema = type_.model_json_schema(by_alias=True, mode="validation")
    return _convert(schema, schema.get("$defs", {}), type_.__name__)


def _convert(node: Mapping[str, Any], definitions: Mapping[str, Schema], path: str) -> Schema:
    converted = _convert_node(node, definitions, path)
    if "description" in converted:
        converted["description"] = " ".join(converted["description"].split())
    return _in_reading_order(converted)


def _convert_node(node: Mapping[str, Any], definitions: Mapping[str, Schema], path: str) -> Schema:
    node = _without_null(_dereferenced(node, definitions), definitions, path)
    if "anyOf" in node:
        return _int_or_string(node, path)
    converted = {key: value for key, value in node.items() if key not in _DROPPED}
    if "default" in converted:
        converted["default"] = _without_nulls(converted["default"])
        if converted["default"] is None:
            del converted["default"]
    if "const" in converted:
        converted["enum"] = [converted.pop("const")]
    if converted.get("type") == "object":
        _convert_object(node, converted, definitions, path)
    elif converted.get("type") == "array":
        if "items" not in node:
            raise TypeError(f"{path}: a structural schema cannot express a tuple")
        converted["items"] = _convert(node["items"], definitions, f"{path}[]")
    elif "type" not in converted:
        raise TypeError(f"{path}: a structural schema needs a type")
    return converted


def _convert_object(
    node: Mapping[str, Any], converted: Schema, definitions: Mapping[str, Schema], path: str
) -> None:
    if "properties" in node:
        converted["properties"] = {
            name: _convert(child, definitions, f"{path}.{name}")
            for name, child in node["properties"].items()
        }
    values = node.get("additionalProperties")
    if isinstance(values, Mapping):
        converted["additionalProperties"] = _convert(values, definitions, f"{path}.*")


def _dereferenced(node: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Schema:
    """`node` with its reference inlined; what stands beside the reference wins."""
    merged = dict(node)
    while "$ref" in merged:
        merged = definitions[merged.pop("$ref").rpartition("/")[2]] | merged
    return merged


def _without_null(node: Schema, definitions: Mapping[str, Schema], path: str) -> Schema:
    """`X | None` as X: an absent field is how Kubernetes says null."""
    if "anyOf" not in node:
        return node
    choices = [choice for choice in node["anyOf"] if choice.get("type") != "null"]
    if len(choices) == len(node["anyOf"]):
        return node
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    if len(choices) > 1:
        return {**rest, "anyOf": choices}
    return _without_null(_dereferenced(choices[0], definitions) | rest, definitions, path)


def _int_or_string(node: Schema, path: str) -> Schema:
    if sorted(choice.get("type", "?") for choice in node["anyOf"]) != ["integer", "string"]:
        raise TypeError(f"{path}: a structural schema has no unions but of int and str")
    kept = {key: value for key, value in node.items() if key not in _DROPPED | {"anyOf", "default"}}
    default = {} if node.get("default") is None else {"default": node["default"]}
    return {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
        **kept,
        **default,
    }


def _without_nulls(value: Any) -> Any:
    """Object defaults are written out in full, so that rules over them see every field."""
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def _in_reading_order(schema: Schema) -> Schema:
    middle = [key for key in schema if key not in _FIRST + _LAST]
    return {key: schema[key] for key in (*_FIRST, *sorted(middle), *_LAST) if key in schema}
