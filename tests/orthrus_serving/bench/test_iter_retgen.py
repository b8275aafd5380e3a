"""Iterative retrieval-generation: the loop, the collection, and its benchmark."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from orthrus_serving.bench.load.run import Servers, run
from orthrus_serving.bench.retgen.collection import read_collection
from orthrus_serving.bench.retgen.index import PassageIndex
from orthrus_serving.bench.retgen.iter_retgen import IterRetGen
from orthrus_serving.bench.retgen.load import RequestLostError, RetGenLoad
from orthrus_serving.bench.retgen.query import Query
from orthrus_serving.bench.retgen.weaknesses import read_weaknesses
from orthrus_serving.scheduling.task import Task
from tests.orthrus_serving.bench.known_server import known_server
from tests.orthrus_serving.bench.test_commands import bench

PASSAGES = ["cats purr", "dogs bark", "birds sing"]
VECTORS = {"cats": [1.0, 0.0, 0.0], "dogs": [0.0, 1.0, 0.0], "birds": [0.0, 0.0, 1.0]}


async def embed(text: str) -> Sequence[float]:
    """The direction of the last animal that a text names."""
    return VECTORS[[word for word in text.split() if word in VECTORS][-1]]


async def test_a_draft_leads_to_passages_that_the_question_did_not_find() -> None:
    asked: list[str] = []

    async def generate(text: str) -> str:
        asked.append(text)
        return " they are dogs "

    loop = IterRetGen(PASSAGES, await index(), embed, generate, iterations=2, retrieve=1)
    first, second = await loop.answer("who hunts cats ?")
    assert (first.retrieved, second.retrieved) == ((0,), (1,))
    assert first.draft == "they are dogs"
    assert "cats purr" in asked[0]
    assert "dogs bark" in asked[1]
    assert all("who hunts cats ?" in text for text in asked)


async def index() -> PassageIndex:
    return PassageIndex([await embed(passage) for passage in PASSAGES])


async def test_the_nearest_passages_come_first() -> None:
    assert (await index()).nearest([0.1, 0.9, 0.2], 3) == (1, 2, 0)
    assert (await index()).nearest([0.1, 9.0, 0.2], 1) == (1,)


def test_the_collection_is_real_and_its_questions_do_not_quote_their_passages() -> None:
    weaknesses = read_weaknesses()
    by_id = {weakness.identifier: weakness for weakness in weaknesses}
    assert len(weaknesses) > 900
    assert by_id["CWE-79"].name.startswith("Improper Neutralization of Input During Web Page")
    assert "victim" in by_id["CWE-79"].passage
    collection = read_collection(300, seed=1)
    assert len({query.passage for query in collection.queries}) == 300
    quoted = [q for q in collection.queries if q.question in collection.passages[q.passage]]
    assert not quoted


def test_a_seed_fixes_the_queries() -> None:
    assert read_collection(20, seed=1).queries == read_collection(20, seed=1).queries
    assert read_collection(20, seed=1).queries != read_collection(20, seed=2).queries
    with pytest.raises(ValueError, match="the collection has"):
        read_collection(100_000, seed=1)


def load(queries: int = 6) -> RetGenLoad:
    return RetGenLoad(PASSAGES, [Query(f"q{n}", 0) for n in range(queries)], 2, 2, 3, 4)


async def test_every_query_is_answered_in_all_its_iterations() -> None:
    of = load()
    async with known_server(wait=0.01) as server:
        outcomes = await run(Servers({task: [server.url] for task in Task}), of)
    tasks = [outcome.task for outcome in outcomes]
    assert tasks.count(Task.EMBEDDING) == len(PASSAGES) + 6 * 2
    assert tasks.count(Task.GENERATION) == 6 * 2
    found = of.findings()
    assert (found.queries, found.lost) == (6, 0)
    assert found.latency is not None
    assert found.latency.p50 >= 2 * 0.02
    assert found.recall == [1.0, 1.0]  # three passages are all that there are
    assert found.chance == 1.0
    queries, indexing = of.windows(max(outcome.ended for outcome in outcomes))
    assert indexing.end == queries.start > 0


async def test_a_query_that_loses_a_request_is_counted_and_the_others_go_on() -> None:
    of = load()
    first = 2 + len(PASSAGES) + 2  # of each task one, the collection, one query's first iteration
    async with known_server(failure="status", fine=first) as server:
        await run(Servers({task: [server.url] for task in Task}), of)
    found = of.findings()
    assert found.lost == 6
    assert found.recall == [0.0, 0.0]


async def test_a_collection_that_cannot_be_embedded_is_told() -> None:
    async with known_server(failure="status", fine=2) as server:
        with pytest.raises(RequestLostError, match="HTTP 429"):
            await run(Servers({task: [server.url] for task in Task}), load())


@pytest.mark.slow
async def test_the_command_writes_its_figures(tmp_path: Path) -> None:
    files = ("--output", tmp_path / "a.json", "--report", tmp_path / "a.html")
    async with known_server() as server:
        code, out, err = await bench(
            *("iter-retgen", "--url", server.url, "--queries", 4, "--answer-tokens", 2), *files
        )
    assert code == 0, err
    assert "recall@5, iteration 2" in out
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["iter_retgen"]["queries"] == 4
    assert found["windows"][0]["window"]["name"] == "queries"
    assert "Mix over time" in (tmp_path / "a.html").read_text()
