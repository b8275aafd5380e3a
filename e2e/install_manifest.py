"""`manifests/install.yaml`, for those who do not use Helm: what the chart renders, written down.

`python -m e2e.install_manifest` prints it; a test holds the file against the chart.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from e2e.cluster.tools import tool
from orthrus_operator.generated import to_yaml

_CHART = Path(__file__).parent.parent / "charts" / "orthrus"
_VALUES = _CHART / "ci" / "manifest-values.yaml"
_HEADER = """\
# Written by `make generate` from charts/orthrus: the operator in namespace orthrus, without Helm.
#
# It needs manifests/crd.yaml and the namespace first, and a registry that holds the images:
#
#   kubectl create namespace orthrus
#   kubectl apply --server-side -f manifests/crd.yaml
#   sed "s#registry.example.com/orthrus#$REGISTRY#" manifests/install.yaml |
#     kubectl apply --server-side -f -
#
# `kubectl delete -f` of this file stops the operator only: models keep serving.
"""


def install_manifest() -> str:
    """The whole file.

    Raises:
        subprocess.CalledProcessError: helm cannot render the chart.
    """
    command = [tool("helm"), "template", "orthrus", _CHART, f"--values={_VALUES}"]
    rendered = subprocess.run(
        [*map(str, command), "--namespace=orthrus"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    objects = [found for found in yaml.safe_load_all(rendered) if found]
    return _HEADER + "".join(f"---\n{to_yaml(_without_helm(found))}" for found in objects)


def _without_helm(rendered: dict[str, Any]) -> dict[str, Any]:
    """Without the labels that would say that Helm looks after it."""
    labels = rendered["metadata"]["labels"]
    kept = {
        name: value
        for name, value in labels.items()
        if name not in ("helm.sh/chart", "app.kubernetes.io/managed-by")
    }
    return {**rendered, "metadata": {**rendered["metadata"], "labels": kept}}


if __name__ == "__main__":
    sys.stdout.write(install_manifest())
