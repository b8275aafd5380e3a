"""Requests to the three routes that work, and what they say of their prompts."""

import httpx

from tests.orthrus_serving.server.replica_process import NAME

TOKEN = 5
QUESTION, ANSWER_TOKENS = "What is the capital of France?", 16
"""Of a chat whose answer is known: the fixture `answer`."""


def embed(http: httpx.Client, given: object, **more: object) -> httpx.Response:
    return http.post("/v1/embeddings", json={"model": NAME, "input": given, **more})


def complete(http: httpx.Client, prompt: object, **more: object) -> httpx.Response:
    body = {"model": NAME, "prompt": prompt, "max_tokens": 1, "temperature": 0, **more}
    return http.post("/v1/completions", json=body)


def chat(http: httpx.Client, content: object, **more: object) -> httpx.Response:
    messages = [{"role": "user", "content": content}]
    body = {"model": NAME, "messages": messages, "max_tokens": 1, "temperature": 0, **more}
    return http.post("/v1/chat/completions", json=body)


def prompt_tokens(reply: httpx.Response) -> int:
    assert reply.status_code == 200, reply.text
    return int(reply.json()["usage"]["prompt_tokens"])


def vectors(reply: httpx.Response) -> list[list[float]]:
    assert reply.status_code == 200, reply.text
    return [item["embedding"] for item in reply.json()["data"]]


def token_ids(length: int) -> list[int]:
    """A prompt of so many tokens, by their ids."""
    return [(11 * i) % 1000 + 20 for i in range(length)]
