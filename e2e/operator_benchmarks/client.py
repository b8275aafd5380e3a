"""A user of the API server: writes objects, lists and watches collections."""

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

Object = dict[str, Any]

_LONGEST_LINE = 2**22
"""Of a watch: an object with all that manages its fields."""


class Client:
    """Paths are those of the API; every failure is an aiohttp.ClientError."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    @classmethod
    @asynccontextmanager
    async def connected(cls, url: str, trust: ssl.SSLContext) -> AsyncIterator["Client"]:
        async with aiohttp.ClientSession(
            url,
            connector=aiohttp.TCPConnector(ssl=trust, limit=0),
            timeout=aiohttp.ClientTimeout(),
            read_bufsize=_LONGEST_LINE,
            raise_for_status=True,
        ) as session:
            yield cls(session)

    async def create(self, path: str, body: Object) -> None:
        async with self._session.post(path, json=body):
            pass

    async def merge(self, path: str, change: Object) -> None:
        """A JSON merge patch."""
        headers = {"content-type": "application/merge-patch+json"}
        async with self._session.patch(path, data=json.dumps(change), headers=headers):
            pass

    async def list(self, path: str, selector: str = "") -> tuple[list[Object], str]:
        """The objects, and the version of the collection."""
        async with self._session.get(path, params={"labelSelector": selector}) as answer:
            found = await answer.json()
        return found["items"], found["metadata"]["resourceVersion"]

    async def watch(self, path: str, version: str) -> AsyncIterator[tuple[str, Object]]:
        """Type and object of each event after `version`, until the server ends it."""
        query = {"watch": "true", "resourceVersion": version}
        async with self._session.get(path, params=query) as answer:
            async for line in answer.content:
                event = json.loads(line)
                yield event["type"], event["object"]
