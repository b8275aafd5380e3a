"""Applying and deleting lists of objects, some of which live in other namespaces."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import Any

import yaml

from e2e.kubectl import Kubectl

Object = dict[str, Any]


def apply(kubectl: Kubectl, objects: Iterable[Object]) -> None:
    """Apply `objects` in order, those without a namespace in that of `kubectl`."""
    # Server-side: some CRDs are too large for the annotation of a client-side apply.
    for namespace, several in groupby(objects, lambda each: _namespace(kubectl, each)):
        there = replace(kubectl, namespace=namespace)
        there(*("apply", "--server-side", "--force-conflicts", "-f", "-"), stdin=_stream(several))


def delete(kubectl: Kubectl, objects: Iterable[Object]) -> None:
    """Delete `objects`, the last first, and wait until they are gone."""
    latest_first = reversed(list(objects))
    for namespace, several in groupby(latest_first, lambda each: _namespace(kubectl, each)):
        there = replace(kubectl, namespace=namespace)
        options = ("--ignore-not-found", "--timeout=120s")
        there("delete", *options, "-f", "-", stdin=_stream(several))


def _namespace(kubectl: Kubectl, found: Object) -> str:
    namespace: str = found["metadata"].get("namespace", kubectl.namespace)
    return namespace


def _stream(objects: Iterable[Object]) -> str:
    return yaml.safe_dump_all(objects)
