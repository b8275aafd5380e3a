"""A stand-in for the Hugging Face Hub, which has one gated model and no other."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

GATED = "orthrus/gated"


class _Hub(BaseHTTPRequestHandler):
    """Answers as the Hub answers someone without a token, by status and headers."""

    def do_GET(self) -> None:
        gated = f"/{GATED}/" in self.path
        self.send_response(HTTPStatus.UNAUTHORIZED)
        self.send_header("X-Error-Code", "GatedRepo" if gated else "RepoNotFound")
        self.send_header(
            "X-Error-Message",
            f"Access to model {GATED} is restricted. You must have access to it and be"
            " authenticated to access it. Please log in."
            if gated
            else "Repository not found",
        )
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *_: object) -> None:
        """Nothing: the tests look at what replicas make of the answers."""


@contextmanager
def hub_stub(address: str) -> Iterator[str]:
    """Serves at a free port of `address`; what HF_ENDPOINT has to be."""
    with ThreadingHTTPServer((address, 0), _Hub) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://{address}:{server.server_port}"
        server.shutdown()
        thread.join()
