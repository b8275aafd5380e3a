"""Connections of tests to the API server, and ports for others to be reached at."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from orthrus_operator.reconciler.client import Api


@asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[Api]:
    """As the operator connects, with the rights of `kubeconfig`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(kubeconfig))
        api = await Api.connect()
    try:
        yield api
    finally:
        await api.close()


def free_port() -> str:
    """A port of this machine that nothing listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])
