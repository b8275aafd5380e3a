from types import SimpleNamespace
from typing import Any, cast

import pytest
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.serve.engine.serving import BaseServing
from vllm.exceptions import VLLMNotFoundError, VLLMValidationError
from vllm.lora.request import LoRARequest

from orthrus_serving.engine.frontend.adapters.adapter_use import AdapterUse
from orthrus_serving.engine.frontend.adapters.declaration import Adapter
from orthrus_serving.engine.frontend.adapters.model_names import (
    AdapterNotLoadedError,
    ModelNames,
    hold_adapters,
)
from orthrus_serving.engine.frontend.adapters.registry import AdapterRegistry, LoadedAdapter
from orthrus_serving.engine.frontend.embedding_space import EmbeddingSpace

SPACE = EmbeddingSpace(checkpoint="c", dtype="float32", pooling="mean", normalized=True)
E5 = Adapter(
    name="e5",
    source="/e5",
    task="embed",
    pooling="last",
    normalize=False,
    end_token="</s>",  # noqa: S106 (a token of the vocabulary)
    instruction="query: ",
)
SQL = Adapter(name="sql", source="/sql", task="generate")


@pytest.fixture
def registry() -> AdapterRegistry:
    return AdapterRegistry()


def load(registry: AdapterRegistry, adapter: Adapter, digest: str = "d") -> LoRARequest:
    request = LoRARequest(adapter.name, 1, f"/stored/{digest}")
    registry.set_loaded(LoadedAdapter(adapter, request, digest, 2), declared=True)
    return request


@pytest.mark.parametrize("name", ["served", "alias", "", None])
def test_a_served_name_or_none_is_the_backbone(registry: AdapterRegistry, name: str | None) -> None:
    names = ModelNames(["served", "alias"], registry, SPACE)
    assert names.embedding(name).lora is None
    assert names.embedding(name).space == SPACE
    names.check_generation(name)


def test_an_adapter_embeds_by_its_own_options(registry: AdapterRegistry) -> None:
    request = load(registry, E5)
    target = ModelNames(["served"], registry, SPACE).embedding("e5")
    assert target.lora is request
    assert (target.end_token, target.instruction) == (2, "query: ")
    assert (target.space.pooling, target.space.normalized) == ("last", False)
    assert target.space.adapter == "d"


def test_an_adapter_without_pooling_takes_that_of_the_server(registry: AdapterRegistry) -> None:
    load(registry, Adapter(name="plain", source="/plain", task="embed"))
    assert ModelNames([], registry, SPACE).embedding("plain").space.pooling == "mean"


def test_new_weights_are_another_space(registry: AdapterRegistry) -> None:
    names = ModelNames([], registry, SPACE)
    load(registry, E5, "old")
    before = names.embedding("e5").space.identifier
    load(registry, E5, "new")
    assert names.embedding("e5").space.identifier != before


def test_the_default_adapter_stands_for_the_served_names_on_embeddings_only(
    registry: AdapterRegistry,
) -> None:
    names = ModelNames(["served"], registry, SPACE, embedding_adapter="e5")
    for name in ("served", None):
        with pytest.raises(AdapterNotLoadedError, match="e5"):
            names.embedding(name)
    names.check_generation("served")
    request = load(registry, E5)
    assert names.embedding("served").lora is request
    registry.remove("e5")
    with pytest.raises(AdapterNotLoadedError):
        names.embedding("served")


def test_a_declared_adapter_is_not_served_before_it_is_loaded(registry: AdapterRegistry) -> None:
    names = ModelNames(["served"], registry, SPACE)
    registry.expect(E5, declared=True)
    for ask in (names.embedding, names.check_generation, names.check_known):
        with pytest.raises(AdapterNotLoadedError, match="e5"):
            ask("e5")
    registry.set_failed("e5", "its rank is 64")
    with pytest.raises(AdapterNotLoadedError, match="e5"):
        names.embedding("e5")


def test_an_unknown_name_is_told_all_that_serve(registry: AdapterRegistry) -> None:
    names = ModelNames(["served"], registry, SPACE)
    load(registry, SQL)
    for ask in (names.embedding, names.check_generation, names.check_known):
        with pytest.raises(VLLMNotFoundError, match="served, sql"):
            ask("nope")


def test_the_wrong_task_names_the_right_route(registry: AdapterRegistry) -> None:
    names = ModelNames([], registry, SPACE)
    load(registry, E5)
    load(registry, SQL)
    names.check_generation("sql")
    with pytest.raises(VLLMValidationError, match="/v1/completions or /v1/chat/completions"):
        names.embedding("sql")
    with pytest.raises(VLLMValidationError, match="/v1/embeddings"):
        names.check_generation("e5")


def test_a_version_serves_until_the_next_one_is_loaded(registry: AdapterRegistry) -> None:
    old = load(registry, E5, "old")
    registry.expect(E5, declared=True)
    registry.set_failed("e5", "its rank is 64")
    found = registry.find("e5")
    assert found is not None
    assert found.request is old
    (status,) = registry.statuses()
    assert (status.state, status.serves, status.message) == ("failed", True, "its rank is 64")
    new = load(registry, E5, "new")
    assert registry.requests == {"e5": new}


def test_an_adapter_called_as_a_kind_of_content_does_not_answer_for_the_served_name(
    registry: AdapterRegistry,
) -> None:
    named = load(registry, Adapter(name="text", source="/text", task="generate"))
    serving = cast("Any", BaseServing.__new__(BaseServing))
    serving.models = SimpleNamespace(
        lora_requests=registry.requests, is_base_model=lambda name: name == "served"
    )
    hold_adapters(serving, AdapterUse())

    def found(model: str) -> LoRARequest | None:
        parts = [{"type": "text", "text": "hello"}]
        messages = [{"role": "user", "content": parts}]
        chat = ChatCompletionRequest.model_validate({"model": model, "messages": messages})
        adapter: LoRARequest | None = serving._maybe_get_adapters(
            chat, supports_default_mm_loras=True
        )
        return adapter

    assert found("served") is None
    assert found("text") is named


def test_adapters_come_and_go_while_they_are_reported(
    registry: AdapterRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/metrics asks from a thread of its own."""
    for adapter in (E5, SQL):
        load(registry, adapter)

    def digest(_: Adapter) -> str:
        registry.remove("sql")
        return "d"

    monkeypatch.setattr(Adapter, "digest", digest)
    assert [status.name for status in registry.statuses()] == ["e5", "sql"]
