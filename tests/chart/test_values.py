"""Values: wrong ones are refused by name, and each is described once."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.chart.objects import CHART, MINIMAL, Helm

SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text())
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())


def documented_rows(
    schema: dict[str, Any], values: dict[str, Any] | None, path: tuple[str, ...] = ()
) -> Iterator[str]:
    """The rows of the README's table: name, default, meaning."""
    for name, part in schema["properties"].items():
        default = (values or {}).get(name)
        if "properties" in part:
            yield from documented_rows(part, default, (*path, name))
        else:
            shown = "" if default is None else f"`{json.dumps(default)}`"
            yield f"| `{'.'.join((*path, name))}` | {shown} | {part['description']} |"


def test_the_readme_describes_every_value() -> None:
    rows = list(documented_rows(SCHEMA, VALUES))
    table = [line for line in (CHART / "README.md").read_text().splitlines() if line[:3] == "| `"]
    assert table == rows, "README.md should have:\n" + "\n".join(rows)


def test_every_level_of_the_schema_is_closed() -> None:
    def levels(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if "properties" in schema:
            yield schema
            for part in schema["properties"].values():
                yield from levels(part)

    assert all(level["additionalProperties"] is False for level in levels(SCHEMA))


def test_the_images_must_be_named(helm: Helm) -> None:
    done = helm("template", "rel", str(CHART))
    assert done.returncode != 0
    assert "at '/image': missing properties 'repository', 'tag'" in done.stderr
    assert "at '/servingImages': minProperties: got 0, want 1" in done.stderr


@pytest.mark.parametrize(
    ("override", "complaint"),
    [
        ("imagge.tag=1", "additional properties 'imagge' not allowed"),
        ("image.pullPolicy=Sometimes", "/image/pullPolicy"),
        ("image.repository=registry/operator:1", "/image/repository"),
        ("watch.allNamespaces=true,watch.namespaces={a}", "/watch/namespaces"),
        ("watch.namespaces={a,a}", "/watch/namespaces"),
        ("serviceAccount.create=false", "/serviceAccount/name"),
        ("resyncSeconds=0", "/resyncSeconds"),
        ("prometheus.url=prometheus:9090", "/prometheus/url"),
        ("hostPaths={/}", "/hostPaths/0"),
        ("hostPaths={models}", "/hostPaths/0"),
        (r"podLabels.app\.kubernetes\.io/name=mine", "/podLabels"),
    ],
)
def test_a_wrong_value_is_refused_by_name(helm: Helm, override: str, complaint: str) -> None:
    done = helm("template", "rel", str(CHART), f"--values={MINIMAL}", f"--set={override}")
    assert done.returncode != 0
    assert complaint in done.stderr
