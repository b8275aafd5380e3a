"""HTTP connections that end in time, so that clients with a pool of them come to new replicas."""

import time
from asyncio import BaseTransport
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.responses import JSONResponse
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from orthrus_serving.server import errors


@dataclass
class ConnectionLimits:
    """`closing` ends each connection after its next answer, whatever its age."""

    max_requests: int
    max_age_seconds: float
    closing: bool = False


MAX_HEADER_BYTES = 64 * 1024
"""httptools itself has no limit."""


class ListenerConfig(uvicorn.Config):
    """uvicorn hands its configuration to each connection; ours brings the limits along."""

    def __init__(self, app: ASGIApp, limits: ConnectionLimits, **named: Any) -> None:
        super().__init__(app, http=BoundedConnection, **named)
        self.limits = limits


class BoundedConnection(HttpToolsProtocol):
    """Says `Connection: close` with the answer to its last request; never cuts between answers,
    when the client may just be sending."""

    config: ListenerConfig

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._made_at = time.monotonic()
        self._requests = 0
        self._header_bytes: int | None = 0

    def data_received(self, data: bytes) -> None:
        if self._header_bytes is not None:
            self._header_bytes += len(data)
        super().data_received(data)
        if self._header_bytes is not None and self._header_bytes > MAX_HEADER_BYTES:
            self.send_400_response(f"The headers are above the limit of {MAX_HEADER_BYTES} bytes.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._header_bytes = 0

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._header_bytes = None
        limits = self.config.limits
        self._requests += 1
        too_old = time.monotonic() - self._made_at >= limits.max_age_seconds
        if limits.closing or too_old or self._requests >= limits.max_requests:
            self.cycle.keep_alive = False

    def close_after_answer(self) -> None:
        """Makes the answer that is on its way the last one."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False

    def send_400_response(self, msg: str) -> None:
        """What is not HTTP gets our error form too."""
        body = bytes(JSONResponse(errors.bad_request(msg).body()).body)
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
