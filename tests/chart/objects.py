"""The chart, its sets of values, and how to pick from what it renders."""

from collections.abc import Callable, Iterable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent.parent
CHART = ROOT / "charts" / "orthrus"
CRD_CHART = ROOT / "charts" / "orthrus-crds"
VALUE_SETS = sorted((CHART / "ci").glob("*.yaml"))
MINIMAL = CHART / "ci" / "minimal-values.yaml"
SAMPLES = ROOT / "manifests" / "samples"

MONITORING_GROUP = "monitoring.coreos.com"
"""Of the Prometheus Operator, which a cluster may lack."""

Object = dict[str, Any]
Helm = Callable[..., CompletedProcess[str]]
Render = Callable[..., list[Object]]


def load(text: str) -> list[Object]:
    """The objects of a YAML stream."""
    # libyaml's loader: the CRD takes PyYAML's own most of a second.
    return [document for document in yaml.load_all(text, yaml.CSafeLoader) if document]


def kinds(objects: Iterable[Object], *names: str) -> list[Object]:
    """The objects of the given kinds, in order."""
    return [found for found in objects if found["kind"] in names]
