"""A stand-in for `vllm` and `orthrus`: takes their command lines and serves at once.

As they do it has a process of its own beside it, which ends with it unless it crashes. The variable
DIES is the name of a program and after how many requests it crashes.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from tests.orthrus_serving.bench.known_server import KnownServer

DIES = "STAND_IN_DIES"
LAST_WORDS = "the stand-in has no memory left"


def main() -> None:
    program = Path(sys.argv[0]).name
    port = next(int(a.partition("=")[2]) for a in sys.argv if a.startswith("--port="))
    name, _, after = os.environ.get(DIES, "").partition(":")
    beside = subprocess.Popen(["sleep", "3600"])
    cores = sorted(os.sched_getaffinity(0))
    say(json.dumps({"cores": cores, "pid": os.getpid(), "beside": beside.pid}))
    server = KnownServer(wait=0.005)

    @web.middleware
    async def mortal(request: web.Request, handler: Handler) -> web.StreamResponse:
        if name == program and len(server.requests) >= int(after):
            say(LAST_WORDS)
            os._exit(3)
        return await handler(request)

    application = server.application()
    application.middlewares.append(mortal)
    web.run_app(application, host="127.0.0.1", port=port, shutdown_timeout=0.1)
    beside.kill()


def say(line: str) -> None:
    """Into the log."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
