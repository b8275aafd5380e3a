"""Install the chart as a user would, with the images built from this tree."""

import subprocess
from pathlib import Path

from e2e.cluster import Cluster

CHART = Path(__file__).parent.parent / "charts" / "orthrus"
OPERATOR = "app.kubernetes.io/name=orthrus"
"""Selects what the chart makes: the operator's Deployment and its pods."""


class HelmError(RuntimeError):
    """helm failed; the message is what it printed."""


def install(
    cluster: Cluster,
    *,
    release: str,
    namespace: str,
    operator: str,
    serving: str,
    settings: dict[str, str] | None = None,
) -> None:
    """`helm upgrade --install` the chart and wait until the operator runs.

    `operator` and `serving` are image references with a tag, `settings` further values of the
    chart. The same call upgrades.

    Raises:
        HelmError: with helm's own message.
    """
    operator_repository, operator_tag = operator.rsplit(":", 1)
    serving_repository, serving_tag = serving.rsplit(":", 1)
    values = {
        "image.repository": operator_repository,
        "image.tag": operator_tag,
        "servingImages.cpu.repository": serving_repository,
        "servingImages.cpu.tag": serving_tag,
        **(settings or {}),
    }
    if release in helm(cluster, "list", "--pending", "--short", "--namespace", namespace).split():
        # A helm that was killed: every later one would say that it is still at work.
        uninstall(cluster, release=release, namespace=namespace)
    helm(
        cluster,
        *("upgrade", "--install", release, str(CHART), "--namespace", namespace),
        *("--create-namespace", "--wait", "--timeout", "3m"),
        # The CRD outlives a release on purpose; whoever installs next takes it on, fields that
        # kubectl wrote meanwhile included.
        *("--take-ownership", "--force-conflicts"),
        *(f"--set-string={name}={value}" for name, value in values.items()),
    )


def uninstall(cluster: Cluster, *, release: str, namespace: str) -> None:
    """`helm uninstall`; a release that is not there is fine."""
    helm(cluster, "uninstall", release, "--namespace", namespace, "--ignore-not-found", "--wait")


def helm(cluster: Cluster, *arguments: str) -> str:
    """Run `helm ARGUMENTS` on the cluster and return what it printed.

    Raises:
        HelmError: with helm's own message.
    """
    done = subprocess.run(
        [str(cluster.tool("helm")), f"--kubeconfig={cluster.kubeconfig}", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise HelmError(f"helm {arguments[0]}: {done.stderr.strip()}")
    return done.stdout
