"""How the API types are declared: camelCase fields, docstrings as descriptions, CEL rules."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class ApiType(BaseModel):
    """A frozen object of the API; attribute docstrings become the CRD's descriptions."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        frozen=True,
        use_attribute_docstrings=True,
    )


@dataclass(frozen=True)
class Rule:
    """One CEL rule; the message is a sentence that says what to change."""

    rule: str
    message: str
    field: str | None = None
    """The field to blame, relative to the object that carries the rule, e.g. `.revision`."""

    def to_schema(self) -> dict[str, str]:
        schema = {"rule": self.rule, "message": self.message}
        return schema | ({"fieldPath": self.field} if self.field else {})


def rules(*rule: Rule) -> dict[str, Any]:
    """Schema extension that carries `rule`s, for `json_schema_extra`."""
    return {"x-kubernetes-validations": [each.to_schema() for each in rule]}


def keyed_by(key: str) -> dict[str, Any]:
    """Schema extension of a list whose items `key` identifies: server-side apply merges them."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}
