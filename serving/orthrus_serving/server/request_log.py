"""A line of JSON for each request (debug) and each refusal (info): no prompt, no key."""

import json
import logging

from orthrus_serving.engine.http_request import HttpRequest
from orthrus_serving.server.errors import ErrorReply

logger = logging.getLogger(__name__)


def log_refusal(request_id: str, path: str, reply: ErrorReply) -> None:
    """A request that was turned away before the engine's application saw it."""
    _log(logging.INFO, "refused", id=request_id, path=path, code=reply.status, type=reply.type)


def log_request(request: HttpRequest, path: str, status: str, code: int | None) -> None:
    """`code` is None when no answer began."""
    _log(
        logging.INFO if request.queue_was_full else logging.DEBUG,
        "refused" if request.queue_was_full else "answered",
        id=request.id,
        path=path,
        model=request.model,
        status=status,
        code=code,
        prompt_tokens=request.prompt_tokens,
        seconds=round(request.seconds, 4),
        first_output_seconds=request.first_output_seconds
        and round(request.first_output_seconds, 4),
    )


def _log(level: int, event: str, **fields: object) -> None:
    if logger.isEnabledFor(level):
        logger.log(level, "%s", json.dumps({"event": event, **fields}))
