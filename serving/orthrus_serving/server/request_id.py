"""X-Request-Id: the client's, or a new one; echoed on every answer and written to the log."""

import re
import uuid

from starlette.types import Scope

HEADER = b"x-request-id"
_ACCEPTED = re.compile(rb"[!-~]{1,128}")
"""Printable and short, so that an id cannot forge a line of the log."""


def with_request_id(scope: Scope) -> tuple[Scope, str]:
    """The scope with exactly one id in its headers, where vLLM's handlers read it, and that id."""
    others = [(name, value) for name, value in scope["headers"] if name != HEADER]
    given = [value for name, value in scope["headers"] if name == HEADER]
    if len(given) == 1 and _ACCEPTED.fullmatch(given[0]):
        chosen: bytes = given[0]
    else:
        chosen = uuid.uuid4().hex.encode()
    return {**scope, "headers": [*others, (HEADER, chosen)]}, chosen.decode()
