"""Commands whose options are the fields of a dataclass."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

Options = TypeVar("Options")


def command(options: type[Options], act: Callable[[Options], None]) -> Callable[..., None]:
    """A function for typer: it makes `options` of what was given and calls `act`, whose docstring
    is the help."""

    def run(**given: Any) -> None:
        act(options(**given))

    run.__name__, run.__doc__ = act.__name__, act.__doc__
    run.__annotations__ = get_type_hints(options, include_extras=True)
    run.__signature__ = inspect.signature(options)  # type: ignore[attr-defined]
    return run
