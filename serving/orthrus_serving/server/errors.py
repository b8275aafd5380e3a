"""The one error form of every route: `{"error": {message, type, param, code}}`."""

import json
from dataclasses import dataclass
from http import HTTPStatus

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

LOADING_RETRY_SECONDS = 5
DRAINING_RETRY_SECONDS = 1
FULL_RETRY_SECONDS = 2
"""A full queue is seconds of work; clients spread their attempts themselves."""
_FIELDS = {"message", "type", "param", "code"}


@dataclass(frozen=True)
class ErrorReply:
    """An error answer; `code` in the body repeats the status, as vLLM's own errors do."""

    status: HTTPStatus
    type: str
    message: str
    headers: tuple[tuple[str, str], ...] = ()

    def body(self) -> dict[str, dict[str, object]]:
        error: dict[str, object] = {
            "message": self.message,
            "type": self.type,
            "param": None,
            "code": self.status.value,
        }
        return {"error": error}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = JSONResponse(self.body(), self.status.value, dict(self.headers))
        await response(scope, receive, send)


def in_error_form(status: int, body: bytes) -> bytes:
    """The body of an error answer: as it is when it has our form, else rewritten to have it.

    FastAPI answers a few errors before vLLM's handlers can, such as a body that nests too deep.
    """
    try:
        given = json.loads(body)
    except ValueError:
        given = None
    error = given.get("error") if isinstance(given, dict) else None
    if isinstance(error, dict) and set(error) >= _FIELDS:
        return body
    detail = given.get("detail") if isinstance(given, dict) else None
    meaning = HTTPStatus(status)
    message = detail if isinstance(detail, str) and detail else f"{meaning.phrase}."
    reply = ErrorReply(meaning, meaning.phrase, message)
    return json.dumps(reply.body()).encode()


def not_found(path: str) -> ErrorReply:
    return ErrorReply(HTTPStatus.NOT_FOUND, "NotFoundError", f"There is no route {path}.")


def method_not_allowed(path: str, allowed: str) -> ErrorReply:
    message = f"{path} answers {allowed} only."
    return ErrorReply(
        HTTPStatus.METHOD_NOT_ALLOWED, "MethodNotAllowedError", message, (("allow", allowed),)
    )


def unauthorized() -> ErrorReply:
    message = "The API key is missing or wrong: send it as 'Authorization: Bearer KEY'."
    headers = (("www-authenticate", "Bearer"),)
    return ErrorReply(HTTPStatus.UNAUTHORIZED, "AuthenticationError", message, headers)


def body_too_large(limit: int) -> ErrorReply:
    """413, and the end of the connection: what is left of the body is on it."""
    message = f"The request body is above the limit of {limit} bytes: send it in parts."
    headers = (("connection", "close"),)
    return ErrorReply(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Request Entity Too Large", message, headers
    )


def bad_request(message: str) -> ErrorReply:
    return ErrorReply(HTTPStatus.BAD_REQUEST, "BadRequestError", message)


def failed() -> ErrorReply:
    return ErrorReply(
        HTTPStatus.INTERNAL_SERVER_ERROR, "InternalServerError", "The server failed to answer."
    )


def unavailable(reason: str, retry_seconds: int, *, close: bool = False) -> ErrorReply:
    """503 with Retry-After; `close` also ends the connection, so that a pooled client moves on."""
    headers = [("retry-after", str(retry_seconds))]
    if close:
        headers.append(("connection", "close"))
    return ErrorReply(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "ServiceUnavailableError",
        f"This replica cannot answer: {reason}.",
        tuple(headers),
    )
