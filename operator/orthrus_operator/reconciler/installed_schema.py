"""Whether the CRD that is installed is the one that this operator was built with."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orthrus_operator.api.crd import object_schema
from orthrus_operator.api.group import API_VERSION, GROUP, KIND, VERSION
from orthrus_operator.reconciler.client import Api

_PUBLISHED_NAME = f"{'.'.join(reversed(GROUP.split('.')))}.{VERSION}.{KIND}"
_WITHOUT_HELM = "kubectl apply --server-side -f manifests/crd.yaml"


@dataclass(frozen=True)
class SchemaCheck:
    """Result of comparing the installed CRD with ours."""

    usable: bool
    """False when a field that the operator reads or writes isn't installed: a status that holds an
    unknown field is lost as a whole."""
    finding: str | None
    """What differs and what to do; None when nothing does."""


async def check_installed_schema(api: Api) -> SchemaCheck:
    """Reads the published schema, which needs no right on CRDs."""
    document = await api.get(f"/openapi/v3/apis/{API_VERSION}")
    published = (document or {}).get("components", {}).get("schemas", {}).get(_PUBLISHED_NAME)
    if published is None:
        return SchemaCheck(
            False,
            f"the CRD of {KIND} is not installed; install the chart orthrus-crds, or without Helm:"
            f" {_WITHOUT_HELM}",
        )
    return compare_schemas(object_schema(), published)


def compare_schemas(ours: dict[str, Any], published: dict[str, Any]) -> SchemaCheck:
    """Compares spec and status; the API server adds to the rest."""
    mine = {part: ours["properties"][part] for part in ("spec", "status")}
    theirs = {part: published.get("properties", {}).get(part, {}) for part in ("spec", "status")}
    absent = sorted(set(_fields(mine)) - set(_fields(theirs)))
    if absent:
        return SchemaCheck(
            False,
            f"the installed CRD is older: it lacks {absent[0]}; upgrade the Helm release that holds"
            f" it (chart orthrus or orthrus-crds), or without Helm: {_WITHOUT_HELM}",
        )
    if json.dumps(mine, sort_keys=True) != json.dumps(theirs, sort_keys=True):
        return SchemaCheck(
            True, "the installed CRD is not the one of this operator version, but has its fields"
        )
    return SchemaCheck(True, None)


def _fields(properties: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, schema in properties.items():
        child = f"{path}.{name}" if path else name
        yield child
        yield from _fields(schema.get("properties", {}), child)
        yield from _fields(schema.get("items", {}).get("properties", {}), f"{child}[]")
