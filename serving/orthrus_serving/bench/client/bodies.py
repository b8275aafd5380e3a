"""Routes and bodies of the OpenAI API."""

from typing import Any

from orthrus_serving.bench.work.request import Request
from orthrus_serving.scheduling.task import Task


def route_and_body(
    request: Request, model: str, extra: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Path and JSON of `request`; `extra` is added to a generation's."""
    if request.task is Task.EMBEDDING:
        return "/v1/embeddings", {"model": model, "input": request.prompt}
    body = {
        "model": model,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
        **extra,
    }
    if _is_chat(request):
        chat = {"messages": request.prompt, "max_completion_tokens": request.max_tokens}
        return "/v1/chat/completions", body | chat
    return "/v1/completions", body | {"prompt": request.prompt, "max_tokens": request.max_tokens}


def _is_chat(request: Request) -> bool:
    return isinstance(request.prompt, list) and isinstance(request.prompt[0], dict)


def text_of(message: dict[str, Any]) -> str | None:
    """The text that a message of a stream adds; None when it holds no token.

    A token may have no text (a special one), but a message that only opens a chat has no token.
    """
    choices = message.get("choices")
    if not choices:
        return None
    if "delta" not in choices[0]:
        return choices[0].get("text") or ""
    delta = choices[0]["delta"]
    text = delta.get("content") or delta.get("reasoning") or delta.get("reasoning_content") or ""
    return None if "role" in delta and not text else text
