"""Files made from the dashboard's questions and from the rules; a test finds their drift."""

from pathlib import Path

from e2e.monitoring.dashboard import dashboard

ROOT = Path(__file__).parent.parent.parent
RULES = ROOT / "manifests" / "monitoring" / "rules.yaml"
DASHBOARD = ROOT / "manifests" / "monitoring" / "dashboard.json"
_CHART_FILES = ROOT / "charts" / "orthrus" / "files"


def generated_files() -> dict[Path, str]:
    """Content by path. A chart reads only its own folder: what it shares is copied there."""
    made = dashboard()
    return {
        DASHBOARD: made,
        _CHART_FILES / "dashboard.json": made,
        _CHART_FILES / "rules.yaml": RULES.read_text(),
    }
