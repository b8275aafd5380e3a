"""One server that answers for every fake replica, on whatever address it is asked.

`python stand_in_replicas.py PORT METRICS_FILE LOG`; LOG gets a line for each scrape: when, and of
whom.
"""

import sys
import time
from pathlib import Path

from aiohttp import web


def application(metrics: bytes, log: Path) -> web.Application:
    """Answers /metrics with `metrics`."""
    lines = log.open("a", buffering=1)

    async def answer(request: web.Request) -> web.Response:
        assert request.transport, "it is still connected"
        address = request.transport.get_extra_info("sockname")[0]
        lines.write(f"{time.monotonic()} {address}\n")
        return web.Response(body=metrics, content_type="text/plain")

    made = web.Application()
    made.router.add_get("/metrics", answer)
    return made


if __name__ == "__main__":
    port, metrics, log = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    served = application(metrics.read_bytes(), log)
    web.run_app(served, host="0.0.0.0", port=port, access_log=None, print=None)  # noqa: S104
