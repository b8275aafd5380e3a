"""What the engine holds: every version that is needed, and no other."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from vllm.lora.request import LoRARequest

from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError
from orthrus_serving.engine.frontend.adapters.declaration import Adapter
from orthrus_serving.engine.http_request import HttpRequest, current_http_request
from tests.orthrus_serving.frontend.adapters.adapted_replica import AdaptedReplica
from tests.orthrus_serving.frontend.adapters.checkpoints import LIMITS, tensors, write

MOST = LIMITS.max_cpu_loras or 0


@pytest.fixture
def replica(tmp_path: Path) -> Iterator[AdaptedReplica]:
    replica = AdaptedReplica(tmp_path)
    yield replica
    replica.store.remove()


async def load(
    replica: AdaptedReplica, name: str, weights: float, *, replace: bool = True
) -> LoRARequest:
    """A version of the adapter `name`, told from others by its weights."""
    folder = write(replica.folder / f"{name}-{weights}", tensors(fill=weights))
    adapter = Adapter(name=name, source=str(folder), task="generate")
    await replica.loader.load(adapter, declared=False, replace=replace)
    return replica.registry.requests[name]


def folder_of(adapter: LoRARequest) -> str:
    return adapter.lora_path.rpartition("/")[2]


@contextmanager
def http_request_with(replica: AdaptedReplica, adapter: LoRARequest) -> Iterator[None]:
    """An HTTP request that found this adapter by its name."""
    request = HttpRequest("r")
    token = current_http_request.set(request)
    replica.use.hold(adapter)
    current_http_request.reset(token)
    yield
    request.close()


async def test_a_version_that_was_replaced_leaves_engine_and_disk(replica: AdaptedReplica) -> None:
    other = await load(replica, "other", 9.0)
    await load(replica, "sql", 1.0)
    new = await load(replica, "sql", 2.0)
    await replica.loader.remove_unused()
    assert replica.engine.held == [other.lora_int_id, new.lora_int_id]
    assert replica.stored() == {folder_of(other), folder_of(new)}
    replica.registry.remove("sql")
    await replica.loader.remove_unused()
    assert replica.engine.held == [other.lora_int_id]
    assert replica.stored() == {folder_of(other)}


async def test_of_two_loads_of_one_new_name_one_is_refused(replica: AdaptedReplica) -> None:
    loads = (load(replica, "sql", weights, replace=False) for weights in (1.0, 2.0))
    first, second = await asyncio.gather(*loads, return_exceptions=True)
    assert isinstance(first, LoRARequest)
    assert isinstance(second, AdapterError)
    assert "load_inplace" in str(second)
    assert replica.engine.held == [first.lora_int_id]
    assert replica.stored() == {folder_of(first)}


async def test_a_version_stays_until_its_last_request_has_ended(replica: AdaptedReplica) -> None:
    old = await load(replica, "sql", 1.0)
    with http_request_with(replica, old):
        with http_request_with(replica, old):
            await load(replica, "sql", 2.0)
        await replica.loader.remove_unused()
        assert old.lora_int_id in replica.engine.held
        replica.engine.working = {old.lora_int_id}
    await replica.loader.remove_unused()
    assert old.lora_int_id in replica.engine.held
    assert folder_of(old) in replica.stored()
    replica.engine.working = set()
    await replica.loader.remove_unused()
    assert old.lora_int_id not in replica.engine.held


async def test_a_version_that_comes_back_while_requests_end_is_not_removed(
    replica: AdaptedReplica,
) -> None:
    old = await load(replica, "sql", 1.0)
    with http_request_with(replica, old):
        await load(replica, "sql", 2.0)
        await replica.loader.remove_unused()
        again = await load(replica, "sql", 1.0)
    await replica.loader.remove_unused()
    assert again == old
    assert replica.engine.held == [old.lora_int_id]


async def test_no_number_of_new_versions_drives_a_serving_adapter_out(
    replica: AdaptedReplica,
) -> None:
    idle = await load(replica, "idle", 100.0)
    for count in range(3 * MOST):
        await load(replica, "sql", float(count))
    assert not replica.engine.dropped
    assert idle.lora_int_id in replica.engine.held
    assert len(replica.stored()) <= MOST


async def test_a_full_engine_still_takes_a_new_version(replica: AdaptedReplica) -> None:
    names = [f"adapter-{i}" for i in range(MOST - 1)]
    for i, name in enumerate(names):
        await load(replica, name, float(i))
    with pytest.raises(AdapterError, match="--max-cpu-loras"):
        await load(replica, "one-more", 50.0)
    for version in range(3):
        await load(replica, names[0], 60.0 + version)
    assert not replica.engine.dropped


async def test_replaced_versions_with_requests_leave_no_room_until_those_end(
    replica: AdaptedReplica,
) -> None:
    first = await load(replica, "sql", 0.0)
    with http_request_with(replica, first):
        for version in range(1, MOST):
            replica.engine.working.add((await load(replica, "sql", float(version))).lora_int_id)
        with pytest.raises(AdapterError, match="try again when they have ended") as refusal:
            await load(replica, "sql", 50.0)
        assert refusal.value.may_pass
        assert not replica.engine.dropped
    await load(replica, "sql", 50.0)
    assert first.lora_int_id not in replica.engine.held


async def test_what_the_engine_took_for_a_load_that_was_cancelled_is_removed(
    replica: AdaptedReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken, never = asyncio.Event(), asyncio.Event()
    add = replica.engine.add_lora

    async def add_and_hang(lora_request: LoRARequest) -> bool:
        await add(lora_request)
        taken.set()
        return await never.wait()

    monkeypatch.setattr(replica.engine, "add_lora", add_and_hang)
    loading = asyncio.create_task(load(replica, "sql", 1.0))
    await taken.wait()
    loading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loading
    await replica.loader.remove_unused()
    assert not replica.engine.held
    assert not replica.stored()
