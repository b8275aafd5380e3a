"""The liveness probe's answer while this operator waits for another one to end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def answering(port: int, text: str) -> AsyncIterator[None]:
    """GET /healthz answers 200 with `text` inside the context: waiting is no reason to restart."""

    async def healthy(_: web.Request) -> web.Response:
        return web.Response(text=text)

    application = web.Application()
    application.router.add_get("/healthz", healthy)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "0.0.0.0", port).start()  # noqa: S104 (kubelet asks from outside)
        yield
    finally:
        await runner.cleanup()
