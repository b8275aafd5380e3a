"""One request on its way in, and its answer on the way out."""

import asyncio
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from orthrus_serving.server.errors import FULL_RETRY_SECONDS, ErrorReply, in_error_form
from orthrus_serving.server.request_id import HEADER

DISCARD_SECONDS = 5.0
"""For a body that was refused: a client that has not sent it all does not read the answer yet."""


_OF_BODY = (b"content-type", b"content-length")


class ClientGoneError(Exception):
    """The client left before its request was complete."""


class BodyTooLargeError(Exception):
    """The body is above the limit; part of it may be unread."""


class Exchange:
    """The ASGI channels of one request; notes how far its answer has come."""

    def __init__(self, request_id: str, receive: Receive, send: Send) -> None:
        self.status: int | None = None
        """None until an answer has begun."""
        self.complete = False
        self.client_left = False
        """Before the answer was complete."""
        self.request_id = request_id
        self._receive = receive
        self._send = send
        self._body: bytes | None = None
        self._error: Message | None = None
        self._error_body = bytearray()

    async def read_body(self, scope: Scope, limit: int) -> None:
        """Takes the whole body in; `receive` then gives it in one message.

        Raises BodyTooLargeError (without reading what its length announces) or ClientGoneError.
        """
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdecimal() and int(announced) > limit:
            raise BodyTooLargeError
        body = bytearray()
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            body += message.get("body", b"")
            if len(body) > limit:
                raise BodyTooLargeError
            if not message.get("more_body", False):
                break
        self._body = bytes(body)

    async def receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        message = await self._receive()
        if message["type"] == "http.disconnect" and not self.complete:
            self.client_left = True
        return message

    async def send(self, message: Message) -> None:
        """Passes an answer on; an error only once it is whole, and in our form."""
        if message["type"] == "http.response.start" and message["status"] >= 400:
            self._error = message
        elif self._error is not None:
            self._error_body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._send_error(self._error)
        else:
            await self.emit(message)

    async def _send_error(self, start: Message) -> None:
        body = in_error_form(start["status"], bytes(self._error_body))
        headers = [pair for pair in start.get("headers", []) if pair[0].lower() not in _OF_BODY]
        headers.append((b"content-type", b"application/json"))
        headers.append((b"content-length", str(len(body)).encode()))
        await self.emit({**start, "headers": headers})
        await self.emit({"type": "http.response.body", "body": body, "more_body": False})

    async def emit(self, message: Message) -> None:
        """Passes an answer on as it is."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [pair for pair in message.get("headers", []) if pair[0].lower() != HEADER]
            headers.append((HEADER, self.request_id.encode()))
            if self.status == HTTPStatus.TOO_MANY_REQUESTS:
                headers.append((b"retry-after", str(FULL_RETRY_SECONDS).encode()))
            message = {**message, "headers": headers}
        elif not message.get("more_body", False):
            self.complete = True
        await self._send(message)

    async def refuse_body(self, scope: Scope, reply: ErrorReply) -> None:
        """Answers, then reads what is still coming for a while and throws it away.

        To close at once would reset the connection under a client that is still sending, and the
        answer would be lost with it.
        """

        async def unfinished(message: Message) -> None:
            is_body = message["type"] == "http.response.body"
            await self.emit({**message, "more_body": True} if is_body else message)

        await reply(scope, self._receive, unfinished)
        try:
            async with asyncio.timeout(DISCARD_SECONDS):
                message = await self._receive()
                while message.get("more_body", False):
                    message = await self._receive()
        except TimeoutError:
            pass
        await self.emit({"type": "http.response.body", "body": b"", "more_body": False})
