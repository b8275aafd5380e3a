"""Generated files are what the types say, and the command keeps them so."""

from pathlib import Path

import pytest
import yaml

from orthrus_operator.api.crd import custom_resource_definition
from orthrus_operator.cli import main
from orthrus_operator.generated import generated_files

ROOT = Path(__file__).parents[2]


def test_the_files_in_the_repository_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--check", "--root", str(ROOT)]) == 0, capsys.readouterr().err


def test_check_names_what_is_stale_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", "--root", str(tmp_path)]) == 0
    page = tmp_path / "docs" / "reference.md"
    page.write_text("older")
    assert main(["generate", "--check", "--root", str(tmp_path)]) == 1
    assert "docs/reference.md is stale" in capsys.readouterr().err
    assert page.read_text() == "older"


def test_crd_prints_the_definition(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crd"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == custom_resource_definition()


@pytest.mark.parametrize("chart", ["orthrus", "orthrus-crds"])
def test_a_charts_copy_outlives_an_uninstall(chart: str) -> None:
    crd = yaml.safe_load(generated_files()[f"charts/{chart}/files/crd.yaml"])
    assert crd["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert crd["spec"] == custom_resource_definition()["spec"]


def test_the_reference_explains_every_field_of_the_spec() -> None:
    page = generated_files()["docs/reference.md"]
    schema = custom_resource_definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for field in schema["properties"]["spec"]["properties"]:
        assert f"| `spec.{field}` |" in page


def test_run_names_the_variables_that_are_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ORTHRUS_SERVING_IMAGE_GPU", "")
    assert main(["run"]) == 2
    assert capsys.readouterr().err == (
        "orthrus-operator: ORTHRUS_SERVING_IMAGE_GPU: String should have at least 1 character\n"
    )
