"""Waiting for a component with a deadline that ends in a `ClusterError`."""

from collections.abc import Callable

from e2e import waiting
from e2e.cluster.errors import ClusterError


def wait_until(what: str, check: Callable[[], str | None], seconds: float) -> None:
    """Call `check` until it returns None; any text it returns is the state seen last.

    Raises:
        ClusterError: `seconds` passed; the message ends with the last state.
    """
    try:
        waiting.wait_until(what, check, lambda state: state is None, within=seconds, every=0.1)
    except TimeoutError as error:
        raise ClusterError(str(error)) from None
