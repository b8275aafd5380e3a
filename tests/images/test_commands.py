"""The commands that the images start."""

import runpy

import pytest

from e2e.images.build import ROOT


@pytest.mark.parametrize("name", ["orthrus", "orthrus-operator"])
def test_a_spawned_process_that_imports_the_command_does_not_start_it_again(name: str) -> None:
    # multiprocessing runs the parent's main file under this name in every child.
    runpy.run_path(str(ROOT / "images" / "bin" / name), run_name="__mp_main__")
    with pytest.raises(SystemExit):
        runpy.run_path(str(ROOT / "images" / "bin" / name), run_name="__main__")
