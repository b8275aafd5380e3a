"""The HTTP listener: options that are needed before vLLM is imported, its socket and server."""

import argparse
import contextlib
import logging
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from orthrus_serving.engine.listener_flags import add_listener_flags
from orthrus_serving.server.connections import (
    BoundedConnection,
    ConnectionLimits,
    ListenerConfig,
)
from orthrus_serving.server.routes import READY, ROUTES

ABANDONED_SECONDS = 2
"""Time for the answers of abandoned requests to leave before their connections are cut."""
LOG_LEVELS = ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG", "NOTSET")
"""As vLLM's flag takes them; ours are the lines of each request at DEBUG."""
KEEP_ALIVE_SECONDS = 75
"""Longer than clients and proxies keep idle connections, so that it is they who close them."""


@dataclass(frozen=True)
class ListenOptions:
    host: str
    port: int
    drain_seconds: float
    max_body_bytes: int
    max_connection_requests: int
    max_connection_age: float
    log_level: str
    uvicorn_log_level: str
    access_log: bool
    api_key_file: Path | None

    @classmethod
    def from_arguments(cls, arguments: Sequence[str]) -> "ListenOptions":
        """Reads these few flags only: the rest is parsed, and judged, once vLLM is imported.

        Raises argparse.ArgumentError for a value that is missing or of the wrong type.
        """
        parser = argparse.ArgumentParser(
            "orthrus serve", add_help=False, allow_abbrev=False, exit_on_error=False
        )
        parser.add_argument("--host", default="0.0.0.0")  # noqa: S104 (a pod listens on its address)
        parser.add_argument("--port", type=int, default=8000)
        add_listener_flags(parser)
        parser.add_argument("--log-level", choices=LOG_LEVELS, default="INFO")
        parser.add_argument("--uvicorn-log-level", default="info")
        parser.add_argument("--api-key-file", type=Path)
        parser.add_argument("--disable-uvicorn-access-log", action="store_true")
        known, _ = parser.parse_known_args([_with_dashes(argument) for argument in arguments])
        return cls(
            host=known.host,
            port=known.port,
            drain_seconds=known.drain_timeout,
            max_body_bytes=known.max_body_bytes,
            max_connection_requests=known.max_connection_requests,
            max_connection_age=known.max_connection_age,
            log_level=known.log_level,
            uvicorn_log_level=known.uvicorn_log_level,
            access_log=not known.disable_uvicorn_access_log,
            api_key_file=known.api_key_file,
        )


def _with_dashes(argument: str) -> str:
    """vLLM's parser takes `--drain_timeout` too."""
    if not argument.startswith("--"):
        return argument
    flag, equals, value = argument.partition("=")
    return flag.replace("_", "-") + equals + value


def bind(options: ListenOptions) -> socket.socket:
    """Raises OSError when the address is taken or not ours."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(address)
    return listening


class Listener(uvicorn.Server):
    """uvicorn without its signal handlers: the replica's own drain first (`replica.py`)."""

    def __init__(self, app: ASGIApp, options: ListenOptions) -> None:
        self._limits = ConnectionLimits(options.max_connection_requests, options.max_connection_age)
        config = ListenerConfig(
            app,
            self._limits,
            log_level=options.uvicorn_log_level,
            access_log=options.access_log,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=ABANDONED_SECONDS,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
        super().__init__(config)
        logging.getLogger("uvicorn.access").addFilter(QuietProbes())

    def close_connections_after_answers(self) -> None:
        """Each connection ends with its next answer, so that its client goes elsewhere."""
        self._limits.closing = True
        for connection in self.server_state.connections:
            if isinstance(connection, BoundedConnection):
                connection.close_after_answer()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class QuietProbes(logging.Filter):
    """Drops access lines of probes and scrapes that went well, and of /ready in any case.

    A replica that is not ready is asked every few seconds, and logs its phases itself.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        match record.args:
            case (_, _, str(path), _, int(status)):
                route = ROUTES.get(path)
                is_probe = route is not None and not route.is_work
                return not (is_probe and (status == HTTPStatus.OK or path == READY))
        return True
