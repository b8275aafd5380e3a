"""How vLLM's application answers what the queue refuses."""

from types import SimpleNamespace

import httpx
import pytest
from vllm.entrypoints.launchers.app import build_app
from vllm.entrypoints.serve.engine.protocol import ErrorInfo, ErrorResponse

from orthrus_serving.engine.frontend.admission import admit, require_room
from orthrus_serving.engine.frontend.arguments import parse
from orthrus_serving.engine.http_request import HttpRequest, current_http_request
from orthrus_serving.engine.queued_tokens import QueuedTokens

ADMITTED = ErrorResponse(error=ErrorInfo(message="admitted", type="Admitted", code=418))


@pytest.mark.parametrize(("waiting", "tokens", "status"), [(0, 5, 413), (3, 2, 429), (4, 1, 429)])
async def test_a_refusal_has_its_status_and_the_error_form(
    waiting: int, tokens: int, status: int
) -> None:
    queue = QueuedTokens(4)
    queue.reserve(waiting)
    http_request = HttpRequest("id")
    current_http_request.set(http_request)

    async def complete(*_: object) -> ErrorResponse:
        require_room(queue)
        admit(queue, tokens)
        return ADMITTED

    app = build_app(parse(["model"]), ("generate", "embed"))
    app.state.openai_serving_completion = SimpleNamespace(create_completion=complete)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as client:
        reply = await client.post("/v1/completions", json={"prompt": "x"})
        assert reply.status_code == status
        assert reply.json()["error"]["code"] == status
        assert http_request.queue_was_full is (status == 429)
        queue.reserved = 0
        http_request.close()
        admitted = await client.post("/v1/completions", json={"prompt": "x"})
        assert admitted.status_code == (413 if status == 413 else ADMITTED.error.code)
