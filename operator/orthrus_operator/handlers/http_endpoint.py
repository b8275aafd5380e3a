"""One page over HTTP, for whoever looks after the operator: the kubelet, Prometheus."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest


@asynccontextmanager
async def serving(port: int, path: str, answer: Callable[[], web.Response]) -> AsyncIterator[None]:
    """GET `path` is answered by `answer` inside the context.

    Raises OSError when the port is taken.
    """

    async def handle(_: web.Request) -> web.Response:
        return answer()

    application = web.Application()
    application.router.add_get(path, handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "0.0.0.0", port).start()  # noqa: S104 (they ask from outside)
        yield
    finally:
        await runner.cleanup()


def exposition(registry: CollectorRegistry) -> web.Response:
    """`registry` as Prometheus reads it."""
    headers = {"content-type": CONTENT_TYPE_LATEST}
    return web.Response(body=generate_latest(registry), headers=headers)
