"""The commands of the monitoring parts, built from Go modules of their own."""

from pathlib import Path

from e2e.cluster.go_modules import Module

_FOLDER = Path(__file__).with_name("go")

PROMETHEUS = Module(
    _FOLDER / "prometheus",
    (
        "github.com/prometheus/prometheus/cmd/prometheus",
        "github.com/prometheus/prometheus/cmd/promtool",
    ),
    ("github.com/prometheus/common/version.Version=3.16.0",),
    # Of all that it can discover, only pods.
    tags=("remove_all_sd", "enable_kubernetes_sd"),
)
PROMETHEUS_ADAPTER = Module(
    _FOLDER / "prometheus-adapter", ("sigs.k8s.io/prometheus-adapter/cmd/adapter",)
)
KEDA = Module(
    _FOLDER / "keda",
    tuple(f"github.com/kedacore/keda/v2/cmd/{name}" for name in ("operator", "adapter")),
    ("github.com/kedacore/keda/v2/version.Version=2.21.0",),
)
