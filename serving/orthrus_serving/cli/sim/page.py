"""Keeps a page equal to what commands print: `python -m orthrus_serving.cli.sim.page FILE`.

In the page a comment names each command, and its output follows up to the next comment:

    <!-- $ orthrus sim packing --markdown -->
    <!-- end -->
"""

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from orthrus_serving.bench.report.page_blocks import PageBlocks
from orthrus_serving.cli.sim.commands import sim

_BLOCKS = PageBlocks("$ orthrus sim", r"[^\n]+")
Run = Callable[[str], str]


def blocks(page: str) -> dict[str, str]:
    """Each command with the output that the page has."""
    return _BLOCKS.contents(page)


def renewed(page: str, run: Run) -> str:
    """The page with what `run` says of each command."""
    return _BLOCKS.renewed(page, lambda command, _: run(command))


def output_of(command: str) -> str:
    """Raises RuntimeError for a command that is refused."""
    printed = StringIO()
    with redirect_stdout(printed):
        code = sim(shlex.split(command))
    if code:
        raise RuntimeError(f"orthrus sim {command} ended with {code}")
    return f"\n{printed.getvalue()}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("orthrus_serving.cli.sim.page", description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--check", action="store_true", help="change nothing; fail on a difference")
    parser.add_argument("--only", default="", help="commands that begin so, such as `packing`")
    parsed = parser.parse_args(arguments)
    before = parsed.page.read_text()
    kept = blocks(before)
    after = renewed(
        before, lambda each: output_of(each) if each.startswith(parsed.only) else kept[each]
    )
    if not parsed.check:
        parsed.page.write_text(after)
    elif before != after:
        sys.stderr.write(f"{parsed.page} is not what its commands print: run without --check\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
