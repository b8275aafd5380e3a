"""Files made from the dashboard's questions; a test finds their drift."""

from pathlib import Path

from e2e.monitoring.dashboard import dashboard

ROOT = Path(__file__).parent.parent.parent
RULES = ROOT / "manifests" / "monitoring" / "rules.yaml"
DASHBOARD = ROOT / "manifests" / "monitoring" / "dashboard.json"


def generated_files() -> dict[Path, str]:
    """Content by path."""
    return {DASHBOARD: dashboard()}
