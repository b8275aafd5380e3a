"""A stand-in for the Hugging Face Hub: one gated model, and the models that a test gives it.

It speaks as much of the Hub's protocol as vLLM and Transformers use: what is in a repository at a
revision, and its files. Statuses and headers are those of the real one.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

GATED = "orthrus/gated"
BRANCH = "main"


@dataclass(frozen=True)
class Repository:
    """A model that anybody may download: every file of a folder."""

    name: str
    folder: Path

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Content by path inside the repository, as it was when first asked for."""
        found = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found}

    @cached_property
    def commit(self) -> str:
        return _digest(json.dumps([(p, _digest(c)) for p, c in self.files.items()]).encode())

    def describe(self) -> dict[str, Any]:
        siblings = [{"rfilename": path} for path in self.files]
        return {"id": self.name, "modelId": self.name, "sha": self.commit, "siblings": siblings}

    def tree(self) -> list[dict[str, Any]]:
        return [
            {"type": "file", "path": path, "size": len(content), "oid": _digest(content)}
            for path, content in self.files.items()
        ]


class _Server(ThreadingHTTPServer):
    repositories: Sequence[Repository] = ()


class _Hub(BaseHTTPRequestHandler):
    """Answers as the Hub answers someone without a token."""

    server: _Server

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        for repository in self.server.repositories:
            for prefix in (f"/api/models/{repository.name}", f"/{repository.name}"):
                if path == prefix or path.startswith(f"{prefix}/"):
                    return self._answer(repository, path.removeprefix(prefix).strip("/"))
        return self._refuse_stranger(path)

    do_HEAD = do_GET  # noqa: N815

    def _answer(self, repository: Repository, asked: str) -> None:
        """`asked`: an act, a revision, and a path inside the repository."""
        act, revision, inside = (*asked.split("/", 2), "", "")[:3]
        if revision not in ("", BRANCH, repository.commit):
            self._refuse(HTTPStatus.NOT_FOUND, "RevisionNotFound", f"no revision {revision}")
        elif act in ("", "revision"):
            self._send_json(repository.describe())
        elif act == "tree" and not inside:
            self._send_json(repository.tree())
        elif act == "resolve" and inside in repository.files:
            self._send_file(repository, inside)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "EntryNotFound", f"no {inside or asked}")

    def _refuse_stranger(self, path: str) -> None:
        if f"/{GATED}/" in path:
            said = (
                f"Access to model {GATED} is restricted. You must have access to it and be"
                " authenticated to access it. Please log in."
            )
            self._refuse(HTTPStatus.UNAUTHORIZED, "GatedRepo", said)
        else:
            self._refuse(HTTPStatus.UNAUTHORIZED, "RepoNotFound", "Repository not found")

    def _refuse(self, status: HTTPStatus, code: str, said: str) -> None:
        self._send(status, b"", {"X-Error-Code": code, "X-Error-Message": said})

    def _send_json(self, content: object) -> None:
        headers = {"Content-Type": "application/json"}
        self._send(HTTPStatus.OK, json.dumps(content).encode(), headers)

    def _send_file(self, repository: Repository, path: str) -> None:
        content = repository.files[path]
        headers = {"ETag": f'"{_digest(content)}"', "X-Repo-Commit": repository.commit}
        self._send(HTTPStatus.OK, content, headers)

    def _send(self, status: HTTPStatus, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *_: object) -> None:
        """Nothing: the tests look at what replicas make of the answers."""


def _digest(content: bytes) -> str:
    """40 hexadecimal digits, as Git names things."""
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


@contextmanager
def hub_stub(address: str, *repositories: Repository) -> Iterator[str]:
    """Serves at a free port of `address`; what HF_ENDPOINT has to be."""
    with _Server((address, 0), _Hub) as server:
        server.repositories = repositories
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://{address}:{server.server_port}"
        server.shutdown()
        thread.join()
