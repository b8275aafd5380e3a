"""Asking a component whether it works, the way a client would."""

import http.client
import socket
import ssl
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from e2e.cluster.ca import KeyPair

_SECONDS = 3.0


@dataclass(frozen=True)
class Trust:
    """Which authority a server must show, and as whom we ask."""

    authority: Path
    client: KeyPair

    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.authority))
        context.load_cert_chain(self.client.certificate, self.client.key)
        return context


def https_probe(
    address: str, port: int, path: str, trust: Trust | None = None
) -> Callable[[], str | None]:
    """A check that `GET https://address:port/path` answers 200.

    Without `trust` the server's certificate is not looked at: some components sign their own.
    """

    def check() -> str | None:
        context = trust.context() if trust else ssl._create_unverified_context()  # noqa: S323
        connection = http.client.HTTPSConnection(address, port, timeout=_SECONDS, context=context)
        return _ask(connection, path)

    return check


def http_probe(address: str, port: int, path: str) -> Callable[[], str | None]:
    """A check that `GET http://address:port/path` answers 200."""
    return lambda: _ask(http.client.HTTPConnection(address, port, timeout=_SECONDS), path)


def dns_probe(server: str, name: str) -> Callable[[], str | None]:
    """A check that the DNS server has an address for `name` (RFC 1035, one question over UDP)."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    header = struct.pack(">6H", 1, 0x0100, 1, 0, 0, 0)  # id, recursion desired, one question
    question = labels + struct.pack(">B2H", 0, 1, 1)  # root label, type A, class IN

    def check() -> str | None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(1)
            try:
                client.sendto(header + question, (server, 53))
                answer = client.recv(512)
            except OSError as error:
                return f"{server}: {error}"
        _, flags, _, answers, _, _ = struct.unpack(">6H", answer[:12])
        return None if answers else f"{server} has no address of {name}, code {flags & 0xF}"

    return check


def _ask(connection: http.client.HTTPConnection, path: str) -> str | None:
    where = f"{connection.host}:{connection.port}{path}"
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return f"{where}: {error}"
    finally:
        connection.close()
    if response.status == http.HTTPStatus.OK:
        return None
    return f"{where}: {response.status} {body[-300:].strip()}"
