"""The client: one request at a time, timed from outside."""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import aiohttp

from orthrus_serving.bench.client.addresses import Addresses
from orthrus_serving.bench.client.bodies import route_and_body, text_of
from orthrus_serving.bench.client.events import EventLines
from orthrus_serving.bench.client.outcome import Outcome, Reply
from orthrus_serving.bench.work.request import Request
from orthrus_serving.scheduling.task import Task

_CUT = "stream cut"


class RequestFailedError(Exception):
    """The server answered, and the answer is no good; says the kind in a few words."""


class Client:
    """Sends requests without retries over as many connections as are needed."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        addresses: Addresses,
        now: Callable[[], float],
        extra: dict[str, Any],
    ) -> None:
        self._session = session
        self._addresses = addresses
        self._now = now
        self._extra = extra

    async def send(self, request: Request, planned: float) -> Reply:
        """Sends one request that was due at `planned`; a failure is an outcome too."""
        sent = self._now()
        try:
            if request.task is Task.EMBEDDING:
                return await self._embed(request, planned, sent)
            return await self._generate(request, planned, sent)
        except RequestFailedError as error:
            kind = str(error)
        except TimeoutError:
            kind = "timeout"
        except (aiohttp.ClientError, OSError) as error:
            kind = type(error).__name__
        except (ValueError, LookupError, TypeError):
            kind = "malformed answer"
        return Reply(Outcome(request.task, planned, sent, self._now(), error=kind))

    async def _embed(self, request: Request, planned: float, sent: float) -> Reply:
        async with self._post(request) as answer:
            body = await answer.read()
            ended = self._now()
            await _check(answer)
            found = json.loads(body)
        outcome = Outcome(
            request.task, planned, sent, ended, prompt_tokens=found["usage"]["prompt_tokens"]
        )
        return Reply(outcome, vector=tuple(found["data"][0]["embedding"]))

    async def _generate(self, request: Request, planned: float, sent: float) -> Reply:
        lines = EventLines()
        arrivals: list[float] = []
        texts: list[str] = []
        usage: dict[str, int] = {}
        done = False
        async with self._post(request) as answer:
            await _check(answer)
            async for received in answer.content.iter_any():
                now = self._now()
                for data in lines.feed(received):
                    if data == b"[DONE]":
                        done = True
                        continue
                    message = json.loads(data)
                    if "error" in message:
                        raise RequestFailedError("error in the stream")
                    usage = message.get("usage") or usage
                    text = text_of(message)
                    if text is not None:
                        arrivals.append(now)
                        texts.append(text)
        ended = self._now()
        if not done or not arrivals:
            raise RequestFailedError(_CUT)
        outcome = Outcome(
            request.task,
            planned,
            sent,
            ended,
            tuple(arrivals),
            usage.get("prompt_tokens", 0),
            usage.get("completion_tokens", len(arrivals)),
        )
        return Reply(outcome, text="".join(texts))

    def _post(self, request: Request) -> Any:
        path, body = route_and_body(request, self._addresses.model(request.task), self._extra)
        return self._session.post(self._addresses.next(request.task) + path, json=body)


async def _check(answer: aiohttp.ClientResponse) -> None:
    if answer.status != HTTPStatus.OK:
        raise RequestFailedError(f"HTTP {answer.status}")


def open_session(timeout: float, api_key: str | None) -> aiohttp.ClientSession:
    """A session that never makes a request wait for a connection, within a running loop."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=timeout),
        headers={"Authorization": f"Bearer {api_key}"} if api_key else None,
        read_bufsize=1 << 20,
    )


async def served_model(session: aiohttp.ClientSession, url: str) -> str:
    """Name of the first model that a server lists.

    Raises:
        LookupError: it lists none, or does not answer.
    """
    try:
        async with session.get(f"{url}/v1/models") as answer:
            if answer.status != HTTPStatus.OK:
                raise LookupError(f"{url}/v1/models answered {answer.status}: name the model")
            found = await answer.json()
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise LookupError(f"{url} does not answer: {error!r}") from None
    if not found.get("data"):
        raise LookupError(f"{url} serves no model")
    return str(found["data"][0]["id"])
