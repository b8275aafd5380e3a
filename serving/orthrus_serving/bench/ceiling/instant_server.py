"""An OpenAI-like server that answers every request at once, with the same bytes.

`python -m orthrus_serving.bench.ceiling.instant_server` prints its port.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import cast

import uvloop

VECTOR_SIZE = 576
"""Of SmolLM2-135M: a client also reads its answers."""
MESSAGES = 32
"""Of one stream."""
MODEL = "instant"

_HEAD_END = b"\r\n\r\n"


def _whole(body: object) -> bytes:
    text = json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(text)}"
    return head.encode() + _HEAD_END + text


def _messages() -> Iterator[bytes]:
    yield (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked"
        + _HEAD_END
    )
    token = {"id": "cmpl-0", "model": MODEL, "choices": [{"index": 0, "text": " word"}]}
    for _ in range(MESSAGES):
        yield _chunk(json.dumps(token))
    usage = {"prompt_tokens": 1, "completion_tokens": MESSAGES}
    yield _chunk(json.dumps({"choices": [], "usage": usage}))
    yield _chunk("[DONE]") + b"0\r\n\r\n"


def _chunk(data: str) -> bytes:
    message = f"data: {data}\n\n".encode()
    return f"{len(message):x}\r\n".encode() + message + b"\r\n"


_MODELS = _whole({"data": [{"id": MODEL}]})
_EMBEDDING = _whole(
    {
        "data": [{"embedding": [round(0.001 * n, 6) for n in range(VECTOR_SIZE)]}],
        "usage": {"prompt_tokens": 1},
    }
)
_STREAM = tuple(_messages())


class InstantConnection(asyncio.Protocol):
    """One connection; requests on it come one after the other."""

    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(_HEAD_END)
        if separator and len(body) >= _body_length(head):
            self._received = b""
            self._answer(head.split(b" ", 2)[1])

    def _answer(self, path: bytes) -> None:
        if path == b"/v1/models":
            self._transport.write(_MODELS)
        elif path == b"/v1/embeddings":
            self._transport.write(_EMBEDDING)
        else:
            self._stream(iter(_STREAM))

    def _stream(self, messages: Iterator[bytes]) -> None:
        """A write for each message, others' messages between them, as from a real server."""
        message = next(messages, None)
        if message is not None and not self._transport.is_closing():
            self._transport.write(message)
            asyncio.get_running_loop().call_soon(self._stream, messages)


def _body_length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


async def serve() -> None:
    """Serves on a free local port, which it prints, until its standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(InstantConnection, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(serve())
