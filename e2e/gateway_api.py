"""The Gateway API's own CRDs, from its Go module."""

from pathlib import Path

from e2e.cluster.go_modules import Module

_MODULE = Module(Path(__file__).parent / "cluster" / "go" / "gatewayapi", packages=())


def gateway_api_crds(*plurals: str) -> list[Path]:
    """The files of the kinds `plurals`, of the version that `go/gatewayapi/go.mod` pins.

    Raises:
        ClusterError: Go is missing, or its module proxy cannot be reached.
    """
    folder = _MODULE.source("sigs.k8s.io/gateway-api") / "config" / "crd" / "standard"
    return [folder / f"gateway.networking.k8s.io_{plural}.yaml" for plural in plurals]
