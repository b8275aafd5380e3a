"""What the official client sees of a real replica."""

import base64
import struct
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from openai import BadRequestError, NotFoundError, OpenAI

from orthrus_serving.engine.frontend.embedding_space import HEADER, ID_LENGTH
from tests.orthrus_serving.server.asking import ANSWER_TOKENS, QUESTION
from tests.orthrus_serving.server.replica_adapters import SERVING
from tests.orthrus_serving.server.replica_process import ALIAS, BUDGET, NAME, ReplicaProcess

pytestmark = pytest.mark.engine

HIDDEN_SIZE = 576


def test_chat_answers(openai_client: OpenAI, answer: str) -> None:
    reply = openai_client.chat.completions.create(
        model=NAME,
        messages=[{"role": "user", "content": QUESTION}],
        max_tokens=ANSWER_TOKENS,
        temperature=0,
    )
    assert reply.choices[0].message.content == answer


def test_a_chat_streams(openai_client: OpenAI, answer: str) -> None:
    stream = openai_client.chat.completions.create(
        model=NAME,
        messages=[{"role": "user", "content": QUESTION}],
        max_tokens=ANSWER_TOKENS,
        temperature=0,
        stream=True,
    )
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
    assert len(pieces) > 1
    assert "".join(pieces) == answer


def test_embeddings_of_one_text_and_of_a_list(openai_client: OpenAI) -> None:
    texts = ["a cat", "a longer text about a dog", "rain"]
    alone = [_vector(openai_client, text) for text in texts]
    together = openai_client.embeddings.create(model=NAME, input=texts, encoding_format="float")
    assert [item.index for item in together.data] == [0, 1, 2]
    for expected, item in zip(alone, together.data, strict=True):
        assert len(item.embedding) == HIDDEN_SIZE
        assert item.embedding == pytest.approx(expected, abs=1e-4)
    assert sum(x * x for x in alone[0]) == pytest.approx(1, abs=1e-5)


def test_token_ids_are_the_text_that_they_spell(openai_client: OpenAI, http: httpx.Client) -> None:
    text = "the quick brown fox"
    tokens = http.post("/tokenize", json={"model": NAME, "prompt": text}).json()["tokens"]
    of_tokens = openai_client.embeddings.create(model=NAME, input=tokens, encoding_format="float")
    assert of_tokens.usage.prompt_tokens == len(tokens)
    assert of_tokens.data[0].embedding == pytest.approx(_vector(openai_client, text), abs=1e-4)
    lists = openai_client.embeddings.create(model=NAME, input=[tokens, tokens[:1]])
    assert len(lists.data) == 2
    assert lists.usage.prompt_tokens == len(tokens) + 1


def test_base64_is_the_float_form_bit_for_bit(openai_client: OpenAI) -> None:
    as_float = openai_client.embeddings.with_raw_response.create(
        model=NAME, input="x", encoding_format="float"
    )
    as_base64 = openai_client.embeddings.with_raw_response.create(
        model=NAME, input="x", encoding_format="base64"
    )
    floats = as_float.http_response.json()["data"][0]["embedding"]
    raw = base64.b64decode(as_base64.http_response.json()["data"][0]["embedding"])
    assert raw == struct.pack(f"<{HIDDEN_SIZE}f", *floats)


def test_every_answer_names_its_embedding_space(openai_client: OpenAI) -> None:
    def space(**extra: object) -> str:
        create = openai_client.embeddings.with_raw_response.create
        return create(model=NAME, input="x", extra_body=extra).headers[HEADER]

    assert len(space()) == ID_LENGTH
    assert space() == space(use_activation=True)
    assert space() != space(use_activation=False)


def test_names_and_aliases(openai_client: OpenAI) -> None:
    assert {model.id for model in openai_client.models.list()} == {NAME, ALIAS, *SERVING}
    assert openai_client.embeddings.create(model=ALIAS, input="x").model == ALIAS
    with pytest.raises(NotFoundError, match=NAME):
        openai_client.embeddings.create(model="nope", input="x")
    with pytest.raises(NotFoundError, match=NAME):
        openai_client.completions.create(model="nope", prompt="x")


def test_what_is_not_supported_is_refused_by_name(openai_client: OpenAI) -> None:
    with pytest.raises(BadRequestError, match="dimensions"):
        openai_client.embeddings.create(model=NAME, input="x", dimensions=8)
    for extra in ({"priority": 1}, {"normalize": True}, {"padding": "max_length"}):
        with pytest.raises(BadRequestError, match=next(iter(extra))):
            openai_client.embeddings.create(model=NAME, input="x", extra_body=extra)
    # A stream must not have begun, with a 200, by the time that it is refused.
    for stream in ({}, {"stream": True}):
        with pytest.raises(BadRequestError, match="priority"):
            openai_client.completions.create(
                model=NAME, prompt="x", extra_body={"priority": 1, **stream}
            )


def test_both_at_once_share_steps(openai_client: OpenAI, replica: ReplicaProcess) -> None:
    """Greedy text stays what it is alone, and vectors too."""

    def generate(_: object = None) -> str:
        reply = openai_client.completions.create(
            model=NAME, prompt=QUESTION, max_tokens=48, temperature=0
        )
        return reply.choices[0].text

    document = "word " * (2 * BUDGET)
    text, vector = generate(), _vector(openai_client, document)
    with ThreadPoolExecutor(8) as pool:
        texts = pool.map(generate, range(4))
        vectors = list(pool.map(lambda _: _vector(openai_client, document), range(12)))
        assert set(texts) == {text}
    for each in vectors:
        assert each == pytest.approx(vector, abs=1e-4)
    replica.wait_metric("orthrus_steps_total", lambda steps: steps > 0, kind="mixed")


def _vector(client: OpenAI, text: str) -> list[float]:
    reply = client.embeddings.create(model=NAME, input=text, encoding_format="float")
    return reply.data[0].embedding
