"""Adapters of a real replica against PEFT."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import torch
import yaml
from torch import Tensor

from e2e.waiting import wait_until
from orthrus_serving.engine.frontend.adapters.store import PREFIX
from orthrus_serving.engine.frontend.embedding_space import HEADER
from tests.orthrus_serving.engine.reference import assert_same
from tests.orthrus_serving.lora import Lora
from tests.orthrus_serving.server.asking import QUESTION
from tests.orthrus_serving.server.replica_adapters import (
    ADMIN_KEY,
    END_TOKEN,
    GENERATING,
    INSTRUCTION,
    LAST,
    MAX_LORAS,
    MEAN,
    MISSING,
    POISONED,
    RAW,
    SERVING,
    SIZES,
    TOO_LARGE,
    ReplicaAdapters,
    swap_config_map,
)
from tests.orthrus_serving.server.replica_process import MODEL_LENGTH, NAME, ReplicaProcess
from tests.orthrus_serving.server.test_routes import assert_error_form

pytestmark = pytest.mark.engine

TEXT = "The quick brown fox jumps over the lazy dog. " * 5
CONTINUED, LONG = 24, 200
"""Tokens."""


def vectors(http: httpx.Client, model: str, given: object, **more: object) -> list[Tensor]:
    reply = http.post("/v1/embeddings", json={"model": model, "input": given, **more})
    assert reply.status_code == 200, reply.text
    assert reply.json()["model"] == model
    return [torch.tensor(i["embedding"], dtype=torch.float64) for i in reply.json()["data"]]


def completion(model: str, prompt: object, count: int) -> dict[str, Any]:
    """Greedy."""
    sampling = {"max_tokens": count, "temperature": 0, "ignore_eos": True}
    return {"model": model, "prompt": prompt, **sampling}


def complete(http: httpx.Client, model: str, count: int = CONTINUED) -> str:
    reply = http.post("/v1/completions", json=completion(model, QUESTION, count))
    assert reply.status_code == 200, reply.text
    assert reply.json()["model"] == model
    return str(reply.json()["choices"][0]["text"])


def stored(replica: ReplicaProcess) -> set[str]:
    """Names of the adapters that the process keeps on disk, one for each content."""
    locks = [Path(file.path) for file in psutil.Process(replica.process.pid).open_files()]
    (folder,) = {lock.parent for lock in locks if lock.parent.name.startswith(PREFIX)}
    return {path.name for path in folder.iterdir() if path.is_dir()}


def wait_stored(replica: ReplicaProcess, expected: set[str]) -> None:
    """Those that nobody needs leave within seconds of their last request."""
    wait_until("stored adapters", lambda: stored(replica), lambda s: s == expected, within=60)


def unit(vector: Tensor) -> Tensor:
    return torch.nn.functional.normalize(vector, dim=0)


def last_vector(adapters: ReplicaAdapters, text: str) -> Tensor:
    """What the adapter of last-token pooling says of a text, by PEFT."""
    peft = adapters.peft
    return peft.vector(LAST, peft.tokens(INSTRUCTION + text + END_TOKEN), "last")


def test_each_embedding_adapter_equals_peft(http: httpx.Client, adapters: ReplicaAdapters) -> None:
    peft = adapters.peft
    tokens = peft.tokens(TEXT)
    expected = {
        MEAN: unit(peft.vector(MEAN, tokens, "mean")),
        LAST: unit(last_vector(adapters, TEXT)),
        RAW: peft.vector(RAW, tokens, "weighted-mean"),
    }
    found = {name: vectors(http, name, TEXT)[0] for name in expected}
    for name, vector in expected.items():
        assert_same(found[name], vector)
    spread = [NAME, *expected]
    all_of_them = [unit(v) for v in (vectors(http, NAME, TEXT)[0], *found.values())]
    for i, one in enumerate(all_of_them):
        for j, other in enumerate(all_of_them[:i]):
            assert (one - other).norm() > 0.05, f"{spread[i]} is {spread[j]}"


@pytest.mark.parametrize("name", GENERATING)
def test_each_generating_adapter_continues_as_peft_does(
    http: httpx.Client, adapters: ReplicaAdapters, name: str
) -> None:
    expected = adapters.peft.continuation(name, adapters.peft.tokens(QUESTION), CONTINUED)
    assert complete(http, name) == expected
    assert complete(http, NAME) != expected


def test_adapters_and_the_backbone_share_steps_and_more_adapters_than_slots_take_turns(
    http: httpx.Client, adapters: ReplicaAdapters, replica: ReplicaProcess
) -> None:
    """Also the fault of vLLM's CPU kernels: rows without adapter beside a full set of slots."""
    assert len(SERVING) > MAX_LORAS
    embedding = [name for name in SERVING if name.endswith("-emb") and name != POISONED]
    alone = {name: complete(http, name) for name in (NAME, *GENERATING)}
    alone_vectors = {name: vectors(http, name, TEXT)[0] for name in (NAME, *embedding)}
    mixed_before = replica.metric("orthrus_steps_total", kind="mixed")
    with ThreadPoolExecutor(16) as pool:
        texts = [(name, pool.submit(complete, http, name)) for _ in range(4) for name in alone]
        found = [
            (name, pool.submit(vectors, http, name, TEXT))
            for _ in range(4)
            for name in alone_vectors
        ]
        for name, text in texts:
            assert text.result() == alone[name]
        for name, future in found:
            assert_same(future.result()[0], alone_vectors[name])
    replica.wait_metric("orthrus_steps_total", lambda n: n > mixed_before, kind="mixed")


def test_the_end_token_counts_and_fits_the_length_of_the_model(http: httpx.Client) -> None:
    def used(given: object, **more: object) -> tuple[int, int]:
        body = {"model": LAST, "input": given, **more}
        reply = http.post("/v1/embeddings", json=body)
        return reply.status_code, reply.json().get("usage", {}).get("prompt_tokens", 0)

    assert used([[5]]) == (200, 2)
    assert used([[5] * (MODEL_LENGTH - 1)]) == (200, MODEL_LENGTH)
    assert used([[5] * MODEL_LENGTH])[0] == 400
    for size in (1, 10, MODEL_LENGTH):
        assert used([[5] * MODEL_LENGTH], truncate_prompt_tokens=size) == (200, size)
    assert used([[5] * MODEL_LENGTH], truncate_prompt_tokens=-1) == (200, MODEL_LENGTH)
    assert used("")[0] == 400


def test_dimensions_are_the_first_numbers_scaled_again(http: httpx.Client) -> None:
    full = vectors(http, LAST, TEXT)[0]
    for size in SIZES:
        short = vectors(http, LAST, TEXT, dimensions=size)[0]
        assert_same(short, unit(full[:size]))
    raw = vectors(http, RAW, TEXT)[0]
    assert_same(vectors(http, RAW, TEXT, dimensions=7)[0], raw[:7])
    assert_same(vectors(http, RAW, TEXT, dimensions=7, use_activation=True)[0], unit(raw[:7]))


@pytest.mark.parametrize(
    ("name", "size"),
    [(LAST, 63), (LAST, 0), (LAST, -1), (LAST, 577), (RAW, 101), (MEAN, 64), (NAME, 64)],
)
def test_other_dimensions_are_refused(http: httpx.Client, name: str, size: int) -> None:
    body = {"model": name, "input": "x", "dimensions": size}
    reply = http.post("/v1/embeddings", json=body)
    assert reply.status_code == 400
    assert_error_form(reply)


def test_each_adapter_has_its_embedding_space(http: httpx.Client) -> None:
    def space(model: str, **more: object) -> str:
        body = {"model": model, "input": "x", **more}
        return http.post("/v1/embeddings", json=body).headers[HEADER]

    of_name = {name: space(name) for name in (NAME, MEAN, LAST, RAW)}
    told = http.get("/ready").json()["embeddingSpaces"]
    assert of_name.items() <= told.items()
    assert told.keys().isdisjoint({*GENERATING, MISSING})
    spaces = [*of_name.values()]
    spaces += [space(LAST, dimensions=size) for size in SIZES]
    spaces.append(space(RAW, use_activation=True))
    assert len(set(spaces)) == len(spaces)


def test_an_adapter_of_the_other_task_is_refused_with_the_right_route(http: httpx.Client) -> None:
    messages = [{"role": "user", "content": "x"}]
    asked: list[tuple[str, dict[str, Any], str]] = [
        ("/v1/embeddings", {"model": GENERATING[0], "input": "x"}, "/v1/completions"),
        ("/v1/completions", {"model": MEAN, "prompt": "x"}, "/v1/embeddings"),
        ("/v1/chat/completions", {"model": MEAN, "messages": messages}, "/v1/embeddings"),
    ]
    for path, body, right in asked:
        for stream in {False, "completions" in path}:
            reply = http.post(path, json=body | {"stream": stream})
            assert reply.status_code == 400
            assert_error_form(reply)
            assert right in reply.json()["error"]["message"]


@pytest.mark.parametrize("name", [TOO_LARGE, MISSING])
def test_an_adapter_that_failed_is_503_everywhere_and_ready_says_why(
    http: httpx.Client, replica: ReplicaProcess, name: str
) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "/v1/embeddings": {"input": "x"},
        "/v1/completions": {"prompt": "x"},
        "/v1/chat/completions": {"messages": [{"role": "user", "content": "x"}]},
        "/tokenize": {"prompt": "x"},
    }
    for path, body in bodies.items():
        reply = http.post(path, json={"model": name, **body})
        assert reply.status_code == 503
        assert int(reply.headers["retry-after"]) > 0
        assert_error_form(reply)
    ready = http.get("/ready")
    assert ready.status_code == 200
    said = {adapter["name"]: adapter for adapter in ready.json()["adapters"]}
    assert said[name]["state"] == "failed"
    assert ("--max-lora-rank" if name == TOO_LARGE else "not there") in said[name]["message"]
    assert replica.metric("orthrus_adapter_loaded", adapter=name) == 0
    assert replica.metric("orthrus_adapter_loaded", adapter=MEAN) == 1


def test_a_poisoned_adapter_is_a_500_that_names_the_input_and_harms_nobody(
    http: httpx.Client,
) -> None:
    before = vectors(http, NAME, TEXT)[0], vectors(http, MEAN, TEXT)[0]
    with ThreadPoolExecutor(8) as pool:
        poisoned = [
            pool.submit(http.post, "/v1/embeddings", json={"model": POISONED, "input": ["x", TEXT]})
            for _ in range(4)
        ]
        others = [pool.submit(vectors, http, n, TEXT) for _ in range(4) for n in (NAME, MEAN)]
        for future in poisoned:
            reply = future.result()
            assert reply.status_code == 500
            assert_error_form(reply)
            assert "input 0" in reply.json()["error"]["message"]
        for i, other in enumerate(others):
            assert_same(other.result()[0], before[i % 2])
    # The blocks that held its keys and values are used again by others.
    for _ in range(4):
        assert_same(vectors(http, NAME, TEXT)[0], before[0])


def test_a_tokenizer_call_takes_every_name(http: httpx.Client) -> None:
    for name in (NAME, MEAN, GENERATING[0]):
        reply = http.post("/tokenize", json={"model": name, "prompt": QUESTION})
        assert reply.status_code == 200


def test_an_unknown_name_is_told_all_that_are_served(http: httpx.Client) -> None:
    for path, body in {
        "/v1/embeddings": {"input": "x"},
        "/v1/completions": {"prompt": "x"},
    }.items():
        reply = http.post(path, json={"model": "nope", **body})
        assert reply.status_code == 404
        for name in (NAME, *SERVING):
            assert name in reply.json()["error"]["message"]


def admin(http: httpx.Client, act: str, **body: object) -> httpx.Response:
    headers = {"authorization": f"Bearer {ADMIN_KEY}"}
    return http.post(f"/v1/{act}_lora_adapter", json=body, headers=headers)


def test_an_adapter_is_loaded_reloaded_and_unloaded_while_the_replica_serves(
    http: httpx.Client, adapters: ReplicaAdapters, replica: ReplicaProcess
) -> None:
    """The same name serves its new weights, and no block of the prefix cache of the old ones."""
    before = stored(replica)
    peft, tokens = adapters.peft, adapters.peft.tokens(TEXT)
    for name, seed in (("hot-1", 21), ("hot-2", 22)):
        peft.make(name, Lora(seed=seed, rank=4, scale=2.0), adapters.folder / name)
    options = {"lora_name": "hot", "task": "embed", "pooling": "last"}

    first = {**options, "lora_path": str(adapters.folder / "hot-1")}
    assert admin(http, "load", **first).status_code == 200
    assert_same(vectors(http, "hot", TEXT)[0], unit(peft.vector("hot-1", tokens, "last")))

    second = {**options, "lora_path": str(adapters.folder / "hot-2")}
    refused = admin(http, "load", **second)
    assert refused.status_code == 400
    assert "load_inplace" in refused.json()["error"]["message"]
    assert admin(http, "load", **second, load_inplace=True).status_code == 200
    assert_same(vectors(http, "hot", TEXT)[0], unit(peft.vector("hot-2", tokens, "last")))
    wait_until(
        "the old is gone", lambda: len(stored(replica) - before), lambda n: n == 1, within=60
    )
    assert_same(vectors(http, "hot", TEXT)[0], unit(peft.vector("hot-2", tokens, "last")))

    assert admin(http, "unload", lora_name="hot").status_code == 200
    wait_stored(replica, before)
    reply = http.post("/v1/embeddings", json={"model": "hot", "input": TEXT})
    assert reply.status_code == 404
    assert admin(http, "unload", lora_name="hot").status_code == 404


def test_a_generation_finishes_with_the_adapter_that_it_began_with(
    http: httpx.Client, adapters: ReplicaAdapters, replica: ReplicaProcess
) -> None:
    """And that stays in the engine and on disk for so long, whatever becomes of its name."""
    before = stored(replica)
    first = adapters.peft.make("hot-gen", Lora(seed=23, rank=4), adapters.folder / "hot-gen")
    loaded = admin(http, "load", lora_name="hot-gen", lora_path=str(first))
    assert loaded.status_code == 200
    (old,) = stored(replica) - before
    expected = complete(http, "hot-gen", count=LONG)
    body = completion("hot-gen", QUESTION, LONG) | {"stream": True}
    with http.stream("POST", "/v1/completions", json=body) as reply:
        lines = reply.iter_lines()
        text = [next(lines)]
        replaced = adapters.folder / MEAN
        swap = {"lora_name": "hot-gen", "lora_path": str(replaced), "load_inplace": True}
        assert admin(http, "load", **swap, task="embed").status_code == 200
        # Others take the slot of the new version, which then shares a batch with the old one.
        vectors(http, LAST, "x")
        vectors(http, RAW, "x")
        assert_same(vectors(http, "hot-gen", "x")[0], vectors(http, MEAN, "x")[0])
        assert admin(http, "unload", lora_name="hot-gen").status_code == 200
        assert old in stored(replica)
        text += list(lines)
    chunks = [json.loads(line[6:]) for line in text if line.startswith("data: {")]
    assert "".join(chunk["choices"][0]["text"] for chunk in chunks if chunk["choices"]) == expected
    wait_stored(replica, before)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"lora_name": MEAN, "lora_path": "/a"}, 409, "adapters file"),
        ({"lora_name": MISSING, "lora_path": "/a"}, 409, "adapters file"),
        ({"lora_name": NAME, "lora_path": "/a"}, 400, "served model"),
        ({"lora_name": "hot", "lora_path": "/nowhere"}, 400, "not there"),
        ({"lora_name": "hot", "lora_path": "relative"}, 400, "absolute path"),
        ({"lora_name": "hot"}, 400, "source"),
        ({"lora_path": "/a"}, 400, "lora_name"),
        ({"lora_name": "hot", "lora_path": "/a", "pooling": "last"}, 400, "task embed"),
        ({"lora_name": "hot", "lora_path": "/a", "rank": 3}, 400, "no field rank"),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_one_sentence(
    http: httpx.Client, body: dict[str, Any], status: int, said: str
) -> None:
    reply = admin(http, "load", **body)
    assert reply.status_code == status
    assert_error_form(reply)
    assert said in reply.json()["error"]["message"]


def test_the_user_has_no_way_to_load(http: httpx.Client) -> None:
    reply = http.post("/v1/load_lora_adapter", json={"lora_name": "x", "lora_path": "/x"})
    assert reply.status_code == 401


def test_the_watched_file_adds_and_takes_out_adapters_and_a_bad_one_changes_nothing(
    http: httpx.Client, adapters: ReplicaAdapters, replica: ReplicaProcess
) -> None:
    def status_of(name: str) -> int:
        body = {"model": name, "prompt": "x", "max_tokens": 1}
        return http.post("/v1/completions", json=body).status_code

    volume, good = adapters.file.parent, adapters.file.read_text()
    added = {"name": "later", "source": str(adapters.folder / "gen-b"), "task": "generate"}
    entries = yaml.safe_load(good)["adapters"]
    swap_config_map(volume, yaml.safe_dump({"adapters": [*entries, added]}))
    wait_until("served", lambda: status_of("later"), lambda s: s == 200, within=60)
    assert complete(http, "later") == complete(http, "gen-b")
    assert http.get("/ready").status_code == 200

    swap_config_map(volume, "adapters: [{name: later}]")
    replica.wait_metric("orthrus_adapters_file_refused", lambda refused: refused == 1)
    assert {status_of(name) for name in ("later", *GENERATING)} == {200}

    swap_config_map(volume, good)
    wait_until("gone", lambda: status_of("later"), lambda s: s == 404, within=60)
    assert replica.metric("orthrus_adapters_file_refused") == 0
