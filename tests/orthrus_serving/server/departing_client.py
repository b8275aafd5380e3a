"""A client that sends a request and may leave without its answer."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit


@contextmanager
def unanswered(url: str, path: str, body: object) -> Iterator[None]:
    """Has the request under way inside the block, and hangs up at its end."""
    address = urlsplit(url)
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nhost: {address.netloc}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(content)}\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(head.encode() + content)
        yield
