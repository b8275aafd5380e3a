"""The watched file, with the real loader; only the engine is left out."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from vllm.lora.request import LoRARequest

from orthrus_serving.engine.frontend.adapters import declared_file
from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError
from orthrus_serving.engine.frontend.adapters.declared_file import AdaptersFile, DeclaredAdapters
from orthrus_serving.engine.frontend.adapters.loader import AdapterLoader
from orthrus_serving.engine.frontend.adapters.registry import AdapterRegistry
from orthrus_serving.engine.frontend.adapters.store import AdapterStore
from tests.orthrus_serving.frontend.adapters.checkpoints import BASE, LIMITS, tensors, write


class Vocabulary:
    def get_vocab(self) -> dict[str, int]:
        return {"</s>": 2}


class Replica:
    """The adapters of a replica whose engine takes whatever it is given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "adapters.yaml"
        self.registry = AdapterRegistry()
        self.given: list[LoRARequest] = []
        self.engine_error: Exception | None = None
        self.loader = AdapterLoader(
            base=BASE,
            limits=LIMITS,
            tokenizer=Vocabulary(),  # type: ignore[arg-type]
            store=AdapterStore(folder),
            registry=self.registry,
            add=self._add,
        )
        self.file = AdaptersFile(self.path, ["served"])
        self.declare()

    async def _add(self, request: LoRARequest) -> bool:
        if self.engine_error:
            raise self.engine_error
        self.given.append(request)
        return True

    def declare(self, *entries: str) -> None:
        self.path.write_text(f"adapters: [{', '.join(entries)}]")

    def entry(self, name: str, options: str = "task: generate", folder: str = "") -> str:
        return f"{{name: {name}, source: {self.folder / (folder or name)}, {options}}}"

    async def until(self, name: str, state: str, serves: bool) -> str:
        """The message, once the adapter is in this state."""
        async with asyncio.timeout(10):
            while True:
                for status in self.registry.statuses():
                    if (status.name, status.state, status.serves) == (name, state, serves):
                        return status.message
                await asyncio.sleep(0.01)

    async def until_that(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not condition():  # noqa: ASYNC110 (any condition, of any part)
                await asyncio.sleep(0.01)


@pytest_asyncio.fixture
async def replica(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Replica]:
    """Time passes faster."""
    monkeypatch.setattr(declared_file, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(declared_file, "FIRST_ATTEMPTS", (0.0, 0.01, 0.01))
    monkeypatch.setattr(declared_file, "LATER_ATTEMPTS", 0.01)
    replica = Replica(tmp_path)
    declared = DeclaredAdapters(replica.file, replica.registry, replica.loader)
    following = asyncio.create_task(declared.run())
    yield replica
    following.cancel()
    replica.loader._store.remove()


async def test_an_adapter_that_is_added_serves_and_one_that_is_taken_out_does_not(
    replica: Replica,
) -> None:
    write(replica.folder / "sql")
    replica.declare(replica.entry("sql"))
    await replica.until("sql", "loaded", serves=True)
    assert replica.registry.requests["sql"] is replica.given[0]
    replica.declare()
    await replica.until_that(lambda: "sql" not in replica.registry)
    assert not replica.registry.requests


async def test_a_changed_entry_serves_its_new_weights_under_a_new_number_and_path(
    replica: Replica,
) -> None:
    write(replica.folder / "old")
    write(replica.folder / "new", tensors(fill=2.0))
    replica.declare(replica.entry("sql", folder="old"))
    await replica.until("sql", "loaded", serves=True)
    replica.declare(replica.entry("sql", folder="new"))
    await replica.until_that(lambda: len(replica.given) > 1)
    old, new = replica.given
    assert old.lora_int_id != new.lora_int_id
    assert old.lora_path != new.lora_path
    await replica.until_that(lambda: replica.registry.requests["sql"] is new)


async def test_a_bad_file_changes_nothing_and_is_reported_until_it_is_good(
    replica: Replica,
) -> None:
    write(replica.folder / "sql")
    replica.declare(replica.entry("sql"))
    await replica.until("sql", "loaded", serves=True)
    for bad in ("adapters: [{name: sql}]", "{", "adapters: [{name: served, task: embed}]"):
        replica.path.write_text(bad)
        await replica.until_that(lambda: not replica.file.valid)
        assert "sql" in replica.registry.requests
        replica.declare(replica.entry("sql"))
        await replica.until_that(lambda: replica.file.valid)
    replica.path.unlink()
    await asyncio.sleep(0.05)
    assert "sql" in replica.registry.requests
    assert len(replica.given) == 1


async def test_what_appears_later_is_loaded_later(replica: Replica) -> None:
    replica.declare(replica.entry("sql"))
    assert "not there" in await replica.until("sql", "failed", serves=False)
    write(replica.folder / "sql")
    assert await replica.until("sql", "loaded", serves=True) == ""


async def test_a_new_version_that_fails_leaves_the_old_one_serving(replica: Replica) -> None:
    write(replica.folder / "old")
    write(replica.folder / "new", r=64)
    replica.declare(replica.entry("sql", folder="old"))
    await replica.until("sql", "loaded", serves=True)
    replica.declare(replica.entry("sql", folder="new"))
    assert "rank is 64" in await replica.until("sql", "failed", serves=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("{task: embed, endToken: nope}", "'nope' is not in the vocabulary"),
        ("{task: embed, dimensions: 5}", "go up to 5, and this model's vectors have 4"),
        ("{task: embed, dimensions: [2, 5]}", "go up to 5"),
    ],
)
async def test_options_that_do_not_fit_the_model_fail(
    replica: Replica, options: str, said: str
) -> None:
    write(replica.folder / "e5")
    replica.declare(replica.entry("e5", options.strip("{}")))
    assert said in await replica.until("e5", "failed", serves=False)


async def test_what_the_engine_refuses_is_told_in_its_words(replica: Replica) -> None:
    replica.engine_error = RuntimeError("Traceback\nValueError: no such module")
    write(replica.folder / "sql")
    replica.declare(replica.entry("sql"))
    message = await replica.until("sql", "failed", serves=False)
    assert message == "vLLM cannot load it: ValueError: no such module"


async def test_more_than_vllm_keeps_fail_and_the_others_serve(replica: Replica) -> None:
    names = ["a", "b", "c", "d"]
    assert LIMITS.max_cpu_loras == len(names) - 1
    for i, name in enumerate(names):
        write(replica.folder / name, tensors(fill=i + 1.0))
    replica.declare(*map(replica.entry, names))
    await replica.until_that(lambda: len(replica.registry.requests) == LIMITS.max_cpu_loras)
    (left_out,) = set(names) - set(replica.registry.requests)
    assert "--max-cpu-loras" in await replica.until(left_out, "failed", serves=False)


async def test_the_kubelets_swap_of_a_link_is_seen(tmp_path: Path) -> None:
    for version, name in (("..1", "old"), ("..2", "new")):
        (tmp_path / version).mkdir()
        entry = f"{{name: {name}, source: /a, task: embed}}"
        (tmp_path / version / "adapters.yaml").write_text(f"adapters: [{entry}]")
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "adapters.yaml").symlink_to("..data/adapters.yaml")
    file = AdaptersFile(tmp_path / "adapters.yaml", ())
    assert [a.name for a in file.read() or ()] == ["old"]
    assert file.read() is None
    (tmp_path / "..data_tmp").symlink_to("..2")
    (tmp_path / "..data_tmp").rename(tmp_path / "..data")
    assert [a.name for a in file.read() or ()] == ["new"]


def test_a_file_that_is_not_there_at_the_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="cannot be read: No such file"):
        AdaptersFile(tmp_path / "adapters.yaml", ()).read()
