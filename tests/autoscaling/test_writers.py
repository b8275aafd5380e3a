"""Writes of `spec.replicas` are counted from what the API server recorded."""

import json
from pathlib import Path
from typing import Any

from e2e.autoscaling.writers import Writers

Entry = tuple[str, dict[str, Any]]
HPA: Entry = ("hpa", {"f:replicas": {}})


def version(replicas: int, *entries: Entry) -> str:
    fields = [{"manager": manager, "fieldsV1": {"f:spec": spec}} for manager, spec in entries]
    return json.dumps(
        {"metadata": {"managedFields": fields}, "spec": {"replicas": replicas}}, indent=1
    )


def test_changes_are_counted_for_whoever_owns_the_field_then(tmp_path: Path) -> None:
    user: Entry = ("kubectl", {"f:replicas": {}})
    operator: Entry = ("orthrus-operator", {})
    stream = [
        version(1, user, operator),
        version(2, operator, HPA),
        version(2, operator, HPA),
        version(1, operator, HPA),
        version(1, operator, HPA, ("meddler", {"f:replicas": {}})),
    ]
    file = tmp_path / "versions.json"
    file.write_text("\n".join(stream) + "\n")
    assert Writers(file).of_replicas() == {"kubectl": 0, "hpa": 2, "meddler": 0}
    assert "meddler" in Writers(file).of_replicas()
    assert Writers(file).managers() == {"kubectl", "orthrus-operator", "hpa", "meddler"}


def test_a_version_that_was_cut_off_at_the_end_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "versions.json"
    whole = version(1, HPA)
    file.write_text(f"{whole}\n{whole[:40]}")
    assert Writers(file).of_replicas() == {"hpa": 0}
