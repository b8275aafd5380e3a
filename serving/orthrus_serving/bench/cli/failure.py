"""How a command ends that cannot do its work."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def explained(*errors: type[Exception]) -> Iterator[None]:
    """One of `errors` inside becomes a sentence on standard error and exit code 2."""
    try:
        yield
    except errors as error:
        sys.stderr.write(f"orthrus bench: {error}\n")
        raise typer.Exit(2) from None
