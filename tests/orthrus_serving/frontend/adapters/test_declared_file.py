"""The watched file, with the real loader."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import huggingface_hub
import pytest
import pytest_asyncio
from safetensors import SafetensorError
from safetensors.torch import save_file

from orthrus_serving.engine.frontend.adapters import declared_file, loader, store
from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError
from orthrus_serving.engine.frontend.adapters.declared_file import AdaptersFile, DeclaredAdapters
from orthrus_serving.engine.frontend.adapters.loader import DOWNLOADS, REPLACEMENTS
from tests.orthrus_serving.frontend.adapters.adapted_replica import AdaptedReplica
from tests.orthrus_serving.frontend.adapters.checkpoints import LIMITS, tensors, write


@pytest_asyncio.fixture
async def replica(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AdaptedReplica]:
    """Time passes faster."""
    monkeypatch.setattr(declared_file, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(declared_file, "FIRST_ATTEMPTS", (0.0, 0.01, 0.01))
    monkeypatch.setattr(declared_file, "LATER_ATTEMPTS", 0.01)
    replica = AdaptedReplica(tmp_path)
    declared = DeclaredAdapters(replica.file, replica.registry, replica.loader)
    following = asyncio.create_task(declared.run())
    yield replica
    following.cancel()
    replica.store.remove()


async def test_an_adapter_that_is_added_serves_and_one_that_is_taken_out_does_not(
    replica: AdaptedReplica,
) -> None:
    write(replica.folder / "sql")
    replica.declare(replica.entry("sql"))
    await replica.until("sql", "loaded", serves=True)
    assert replica.registry.requests["sql"] is replica.engine.given[0]
    replica.declare()
    await replica.until_that(lambda: "sql" not in replica.registry)
    assert not replica.registry.requests


async def test_a_changed_entry_serves_its_new_weights_under_a_new_number_and_path(
    replica: AdaptedReplica,
) -> None:
    write(replica.folder / "old")
    write(replica.folder / "new", tensors(fill=2.0))
    replica.declare(replica.entry("sql", folder="old"))
    await replica.until("sql", "loaded", serves=True)
    replica.declare(replica.entry("sql", folder="new"))
    await replica.until_that(lambda: len(replica.engine.given) > 1)
    old, new = replica.engine.given
    assert old.lora_int_id != new.lora_int_id
    assert old.lora_path != new.lora_path
    await replica.until_that(lambda: replica.registry.requests["sql"] is new)


async def test_an_entry_that_says_the_same_in_other_words_is_known_to_have_come(
    replica: AdaptedReplica,
) -> None:
    write(replica.folder / "e5")
    replica.declare(replica.entry("e5", "task: embed"))
    await replica.until("e5", "loaded", serves=True)
    (before,) = replica.registry.statuses()
    replica.declare(replica.entry("e5", "task: embed, normalize: true"))
    await replica.until_that(
        lambda: replica.registry.statuses()[0].declaration != before.declaration
    )
    await replica.until("e5", "loaded", serves=True)


async def test_a_bad_file_changes_nothing_and_is_reported_until_it_is_good(
    replica: AdaptedReplica,
) -> None:
    write(replica.folder / "sql")
    replica.declare(replica.entry("sql"))
    await replica.until("sql", "loaded", serves=True)
    for bad in (
        "adapters: [{name: sql}]",
        "{",
        "adapters: [{name: served, task: embed}]",
        "adapters: 2001-02-31",
    ):
        replica.path.write_text(bad)
        await replica.until_that(lambda: not replica.file.valid)
        assert "sql" in replica.registry.requests
        replica.declare(replica.entry("sql"))
        await replica.until_that(lambda: replica.file.valid)
    replica.path.unlink()
    await asyncio.sleep(0.05)
    assert "sql" in replica.registry.requests
    assert len(replica.engine.given) == 1


def test_a_file_that_gives_the_embedding_adapter_another_task_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "adapters.yaml"
    file = AdaptersFile(path, ["served"], embedding_adapter="e5")
    path.write_text("adapters: [{name: e5, source: /e5, task: generate}]")
    with pytest.raises(AdapterError, match="its task must be embed"):
        file.read()
    assert not file.valid
    path.write_text("adapters: [{name: e5, source: /e5, task: embed}]")
    assert file.read()
    assert file.valid


async def test_the_file_is_followed_whatever_one_look_at_it_raises(
    replica: AdaptedReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = threading.Event()

    def fail() -> None:
        looked.set()
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(replica.file, "read", fail)
        await replica.until_that(looked.is_set)
    write(replica.folder / "sql")
    replica.declare(replica.entry("sql"))
    await replica.until("sql", "loaded", serves=True)


async def test_what_appears_later_is_loaded_later(replica: AdaptedReplica) -> None:
    replica.declare(replica.entry("sql"))
    assert "not there" in await replica.until("sql", "failed", serves=False)
    write(replica.folder / "sql")
    assert await replica.until("sql", "loaded", serves=True) == ""


async def test_a_new_version_that_fails_leaves_the_old_one_serving(replica: AdaptedReplica) -> None:
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
    replica: AdaptedReplica, options: str, said: str
) -> None:
    write(replica.folder / "e5")
    replica.declare(replica.entry("e5", options.strip("{}")))
    assert said in await replica.until("e5", "failed", serves=False)


async def test_what_the_engine_refuses_is_told_in_its_words(replica: AdaptedReplica) -> None:
    replica.engine.error = RuntimeError("Traceback\nValueError: no such module")
    write(replica.folder / "sql")
    replica.declare(replica.entry("sql"))
    message = await replica.until("sql", "failed", serves=False)
    assert message == "vLLM cannot load it: ValueError: no such module"


async def test_more_than_vllm_keeps_fail_and_the_others_serve(replica: AdaptedReplica) -> None:
    names = ["a", "b", "c", "d"]
    assert LIMITS.max_cpu_loras == len(names) - 1 + REPLACEMENTS
    for i, name in enumerate(names):
        write(replica.folder / name, tensors(fill=i + 1.0))
    replica.declare(*map(replica.entry, names))
    await replica.until_that(lambda: len(replica.registry.requests) == len(names) - 1)
    (left_out,) = set(names) - set(replica.registry.requests)
    assert "--max-cpu-loras" in await replica.until(left_out, "failed", serves=False)


@pytest.mark.parametrize(
    ("where", "what", "error"),
    [
        (huggingface_hub, "snapshot_download", httpx2.ReadTimeout("")),
        (huggingface_hub, "snapshot_download", httpx2.ProxyError("no way out")),
        (store, "save_file", OSError(28, "No space left on device")),
        (store, "save_file", SafetensorError("I/O error")),
        (loader, "read_checkpoint", ZeroDivisionError()),
    ],
)
async def test_whatever_goes_wrong_is_told_and_tried_again(
    replica: AdaptedReplica,
    monkeypatch: pytest.MonkeyPatch,
    where: object,
    what: str,
    error: Exception,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    write(replica.folder / "sql")
    monkeypatch.setattr(where, what, fail)
    entry = "{name: sql, source: 'hf://org/sql', task: generate}"
    replica.declare(entry if where is huggingface_hub else replica.entry("sql"))
    message = await replica.until("sql", "failed", serves=False)
    assert str(error) in message or type(error).__name__ in message
    assert not replica.stored()
    monkeypatch.undo()
    monkeypatch.setattr(declared_file, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(declared_file, "LATER_ATTEMPTS", 0.01)
    monkeypatch.setattr(
        huggingface_hub, "snapshot_download", lambda *_, **__: str(replica.folder / "sql")
    )
    assert await replica.until("sql", "loaded", serves=True) == ""


async def test_a_hub_that_hangs_holds_up_no_other_adapter(
    replica: AdaptedReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: answers.wait())
    try:
        write(replica.folder / "sql")
        names = [f"hub-{i}" for i in range(2 * DOWNLOADS)]
        hub = [f"{{name: {name}, source: 'hf://org/{name}', task: embed}}" for name in names]
        replica.declare(*hub, replica.entry("sql"))
        await replica.until("sql", "loaded", serves=True)
        assert {s.name for s in replica.registry.statuses() if s.state == "loading"} == set(names)
    finally:
        answers.set()


async def test_an_entry_that_changes_while_its_weights_are_copied_is_loaded(
    replica: AdaptedReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy goes on in its thread when its task is cancelled; the same weights come again."""
    first_copies, may_end = threading.Event(), threading.Event()

    def save(*args: Any) -> None:
        if not first_copies.is_set():
            first_copies.set()
            may_end.wait()
        save_file(*args)

    write(replica.folder / "e5")
    monkeypatch.setattr(store, "save_file", save)
    replica.declare(replica.entry("e5", "task: embed"))
    await replica.until_that(first_copies.is_set)
    replica.declare(replica.entry("e5", "task: embed, pooling: last"))
    await replica.until("e5", "loaded", serves=True)
    may_end.set()
    await replica.until_that(lambda: len(replica.stored()) == 1)
    assert len(replica.store.all()) == 1
    adapter = replica.registry.find("e5")
    assert adapter is not None
    assert adapter.adapter.pooling == "last"


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
