"""An image's tag changes with what goes into the image, and with nothing else."""

import shutil
from pathlib import Path

import pytest

from e2e.images.build import ROOT
from e2e.images.reference import NAMES, recipe

INPUTS = ("Dockerfile", "LICENSE", "images", "operator", "requirements", "serving")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of everything that images are made of."""
    for name in INPUTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def references(tree: Path) -> dict[str, str]:
    return {name: recipe(tree, name).reference for name in NAMES}


def append(file: Path, text: str) -> None:
    file.write_text(file.read_text() + text)


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("operator/orthrus_operator/__init__.py", {"operator"}),
        ("serving/orthrus_serving/__init__.py", {"serving-cpu", "serving-gpu"}),
        ("requirements/operator.txt", {"operator"}),
        ("requirements/serving-gpu.txt", {"serving-gpu"}),
        ("requirements/dev.txt", set()),
        ("images/install-packages", set(NAMES)),
        ("Dockerfile", set()),  # a comment
    ],
)
def test_a_change_gives_new_tags_to_the_images_that_hold_it(
    tree: Path, file: str, changed: set[str]
) -> None:
    before = references(tree)
    append(tree / file, "\n# changed\n")
    after = references(tree)
    assert {name for name in NAMES if before[name] != after[name]} == changed


def test_a_changed_instruction_changes_only_the_images_that_run_it(tree: Path) -> None:
    before = references(tree)
    text = (tree / "Dockerfile").read_text()
    (tree / "Dockerfile").write_text(text.replace("libc6-dev", "libc6-dev g++"))
    after = references(tree)
    assert {name for name in NAMES if before[name] != after[name]} == {"serving-gpu"}


def test_a_file_that_becomes_executable_changes_the_tag(tree: Path) -> None:
    before = references(tree)
    (tree / "images/bin/orthrus-operator").chmod(0o644)
    assert references(tree)["operator"] != before["operator"]


def test_byte_code_and_the_clock_change_nothing(tree: Path) -> None:
    before = references(tree)
    cached = tree / "operator/orthrus_operator/__pycache__/x.cpython-311.pyc"
    cached.parent.mkdir()
    cached.write_bytes(b"x")
    (tree / "operator/orthrus_operator/__init__.py").touch()
    assert references(tree) == before


@pytest.mark.parametrize("name", NAMES)
def test_the_build_context_of_docker_holds_every_input(name: str) -> None:
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in rules
    allowed = {rule[1:] for rule in rules if rule.startswith("!")}
    assert {file.parts[0] for file in recipe(ROOT, name).files} <= allowed


@pytest.mark.parametrize("name", ["serving-cpu", "serving-gpu"])
def test_serving_images_hold_no_operator(name: str) -> None:
    assert not [file for file in recipe(ROOT, name).files if "orthrus_operator" in file.parts]


def test_the_operator_image_holds_no_replica() -> None:
    assert not [file for file in recipe(ROOT, "operator").files if "orthrus_serving" in file.parts]
