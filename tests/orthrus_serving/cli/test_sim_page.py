"""The page of simulated figures is what its commands print."""

from pathlib import Path

import pytest

from orthrus_serving.cli.sim.page import blocks, main, output_of, renewed

PAGE = Path(__file__).parents[3] / "docs" / "benchmarks-simulated.md"
ON_THE_PAGE = blocks(PAGE.read_text())
CHEAP = [command for command in ON_THE_PAGE if command.startswith("run ")]
LONG = [command for command in ON_THE_PAGE if command not in CHEAP]


@pytest.mark.parametrize("command", CHEAP)
def test_a_table_of_the_page_is_what_its_command_prints(command: str) -> None:
    assert ON_THE_PAGE[command] == output_of(command)


@pytest.mark.long
@pytest.mark.parametrize("command", LONG)
def test_a_long_table_of_the_page_is_what_its_command_prints(command: str) -> None:
    assert ON_THE_PAGE[command] == output_of(command)


def test_every_table_of_the_page_says_that_it_is_simulated() -> None:
    assert {command.split()[0] for command in ON_THE_PAGE} == {
        *("run", "paper", "packing", "fleet", "scale")
    }
    for command, output in ON_THE_PAGE.items():
        tables = output.count("\n| --- |")
        assert tables, command
        assert output.count("**SIMULATED: ") == tables, command


def test_a_page_is_renewed_between_its_comments_and_nowhere_else() -> None:
    block = "<!-- $ orthrus sim {command} -->\n{output}\n<!-- end -->\n"
    one, two = (
        block.format(command="a --b", output="old"),
        block.format(command="c", output="older"),
    )
    page = f"Before\n{one}between\n{two}after\n"
    assert blocks(page) == {"a --b": "old\n", "c": "older\n"}
    new = [block.format(command=each, output=f"new of {each}") for each in ("a --b", "c")]
    after = f"Before\n{new[0]}between\n{new[1]}after\n"
    assert renewed(page, lambda command: f"new of {command}\n") == after


def test_a_page_that_differs_is_found_and_left_alone_and_then_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    small = "run --seconds 2 --clients 2 --markdown"
    before = f"<!-- $ orthrus sim {small} -->\n0.0\n<!-- end -->\n"
    page.write_text(before)
    assert main([str(page), "--check"]) == 1
    assert page.read_text() == before
    assert main([str(page), "--only", "packing"]) == 0
    assert page.read_text() == before
    assert main([str(page)]) == 0
    assert "**SIMULATED: unified 1, ibs**" in page.read_text()
    assert main([str(page), "--check"]) == 0


def test_a_command_that_is_refused_is_no_output() -> None:
    with pytest.raises(RuntimeError, match="orthrus sim run --mix 5 ended with 2"):
        output_of("run --mix 5")
