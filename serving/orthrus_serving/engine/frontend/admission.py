"""Lets an HTTP request into the queue, or refuses it whole."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from vllm.exceptions import GracefulHTTPError

from orthrus_serving.engine.http_request import current_http_request
from orthrus_serving.engine.queued_tokens import (
    QueuedTokens,
    QueueFullError,
    RequestTooLargeError,
)


def admit(queue: QueuedTokens, tokens: int) -> None:
    """Holds a place for all prompts of the current HTTP request, until each has been computed.

    Raises GracefulHTTPError: 429 when there is no room, 413 when there never will be.
    """
    if (request := current_http_request.get()) is not None:
        with _refusals():
            request.hold(tokens, queue.reserve(tokens))


def require_room(queue: QueuedTokens) -> None:
    """Refuses early what would be refused anyway; raises as `admit` does."""
    with _refusals():
        queue.require_room()


@contextmanager
def _refusals() -> Iterator[None]:
    """In an exception that vLLM's application knows how to answer."""
    try:
        yield
    except QueueFullError as error:
        if (request := current_http_request.get()) is not None:
            request.queue_was_full = True
        raise GracefulHTTPError(str(error), HTTPStatus.TOO_MANY_REQUESTS) from error
    except RequestTooLargeError as error:
        raise GracefulHTTPError(str(error), HTTPStatus.REQUEST_ENTITY_TOO_LARGE) from error
