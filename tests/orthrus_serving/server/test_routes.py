from pathlib import Path

import httpx
import pytest

from orthrus_serving.server.api_key_file import ApiKeyFile
from tests.orthrus_serving.server.outer_app import OuterApp

WORK = (
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/completions"),
    ("POST", "/v1/embeddings"),
    ("GET", "/v1/models"),
    ("POST", "/tokenize"),
)
NOT_SERVED = (
    "/",
    "/docs",
    "/invocations",
    "/pooling",
    "/rerank",
    "/score",
    "/v1/load_lora_adapter",
    "/v1/models/",
    "/v1/responses",
    "/v2/embed",
    "/version",
)


@pytest.mark.parametrize(("method", "path"), WORK)
async def test_each_route_is_forwarded(
    outer: OuterApp, client: httpx.AsyncClient, method: str, path: str
) -> None:
    outer.serve()
    assert (await client.request(method, path)).text == path


@pytest.mark.parametrize("path", NOT_SERVED)
async def test_anything_else_is_404_in_the_error_form(
    outer: OuterApp, client: httpx.AsyncClient, path: str
) -> None:
    outer.serve()
    for method in ("GET", "POST"):
        reply = await client.request(method, path)
        assert reply.status_code == 404
        assert_error_form(reply)


async def test_the_wrong_method_is_405(outer: OuterApp, client: httpx.AsyncClient) -> None:
    outer.serve()
    reply = await client.get("/v1/embeddings")
    assert reply.status_code == 405
    assert reply.headers["allow"] == "POST"
    assert_error_form(reply)


@pytest.mark.parametrize(("method", "path"), WORK)
async def test_work_needs_the_key(
    outer: OuterApp, client: httpx.AsyncClient, method: str, path: str
) -> None:
    outer.serve("secret", "second")
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "secret"}):
        reply = await client.request(method, path, headers=headers)
        assert reply.status_code == 401
        assert_error_form(reply)
    for key in ("secret", "second"):
        reply = await client.request(method, path, headers={"authorization": f"Bearer {key}"})
        assert reply.status_code == 200


async def test_the_keys_of_a_file_change_while_it_serves(
    outer: OuterApp, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    path = tmp_path / "keys"
    path.write_text("first")
    outer.serve_with(ApiKeyFile(path))

    async def status(key: str) -> int:
        headers = {"authorization": f"Bearer {key}"}
        return (await client.get("/v1/models", headers=headers)).status_code

    assert (await status("first"), await status("another")) == (200, 401)
    path.write_text("another")
    assert (await status("first"), await status("another")) == (401, 200)


@pytest.mark.parametrize("path", ["/v1/load_lora_adapter", "/v1/unload_lora_adapter"])
async def test_adapters_are_loaded_with_an_admin_key_only(
    outer: OuterApp, client: httpx.AsyncClient, path: str
) -> None:
    outer.serve("user")
    key = {"authorization": "Bearer user"}
    assert (await client.post(path, headers=key)).status_code == 404

    outer.serve("user", admin="admin")
    for headers in ({}, key):
        reply = await client.post(path, headers=headers)
        assert reply.status_code == 401
        assert_error_form(reply)
    admin = {"authorization": "Bearer admin"}
    assert (await client.post(path, headers=admin)).text == path
    assert (await client.post("/v1/embeddings", headers=admin)).status_code == 401


async def test_probes_and_metrics_need_no_key(outer: OuterApp, client: httpx.AsyncClient) -> None:
    outer.serve("secret")
    for path in ("/health", "/ready", "/metrics"):
        assert (await client.get(path)).status_code == 200


def assert_error_form(reply: httpx.Response) -> None:
    error = reply.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["code"] == reply.status_code
    assert error["message"]
