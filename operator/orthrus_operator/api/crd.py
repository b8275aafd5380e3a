"""The CustomResourceDefinition, made from the types."""

from typing import Any

from orthrus_operator.api.declare import Rule, rules
from orthrus_operator.api.group import CRD_NAME, GROUP, KIND, PLURAL, VERSION
from orthrus_operator.api.orthrus_deployment import Spec
from orthrus_operator.api.schema import Schema, structural_schema
from orthrus_operator.api.status import Status

_NAME_RULE = Rule(
    "self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    "metadata.name also names the Service and labels the pods: use at most 52 lower-case letters,"
    " digits and -, starting with a letter",
)

_COLUMNS = (
    ("Model", "string", ".spec.model.source", 0),
    ("Ready", "string", ".status.ready", 0),
    ("Adapters", "string", ".status.adaptersReady", 0),
    ("Policy", "string", ".spec.scheduling.policy", 0),
    ("Available", "string", '.status.conditions[?(@.type=="Available")].status', 0),
    ("Age", "date", ".metadata.creationTimestamp", 0),
    ("Endpoint", "string", ".status.endpoint", 1),
    ("Message", "string", '.status.conditions[?(@.type=="Ready")].message', 1),
)


def object_schema() -> Schema:
    """Schema of the whole object."""
    return {
        "type": "object",
        "description": "One model for embedding and generation, served by one-GPU replicas.",
        "required": ["spec"],
        **rules(_NAME_RULE),
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": structural_schema(Spec),
            # No field of it may be required: a status is written whole, but only by its owner.
            "status": _status_schema(),
        },
    }


def _status_schema() -> Schema:
    schema = structural_schema(Status)
    del schema["required"]
    # kstatus takes an object without any status for done: `helm --wait` would pass at once.
    return {"default": {"observedGeneration": -1}, **schema}


def custom_resource_definition() -> dict[str, Any]:
    """The CRD as a Kubernetes object."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": CRD_NAME},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": PLURAL,
                "singular": KIND.lower(),
                "shortNames": ["orth"],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {
                        "status": {},
                        "scale": {
                            "specReplicasPath": ".spec.replicas",
                            "statusReplicasPath": ".status.replicas",
                            "labelSelectorPath": ".status.selector",
                        },
                    },
                    "additionalPrinterColumns": [_column(*column) for column in _COLUMNS],
                    "schema": {"openAPIV3Schema": object_schema()},
                }
            ],
        },
    }


def _column(name: str, type_: str, path: str, priority: int) -> dict[str, Any]:
    column: dict[str, Any] = {"name": name, "type": type_, "jsonPath": path}
    return column | ({"priority": priority} if priority else {})
