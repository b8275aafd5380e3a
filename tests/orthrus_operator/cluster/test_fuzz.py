"""Hundreds of specs made from the schema: the real API server refuses each wrong one by the name
of its field, and stores each right one so that neither it nor we change it afterwards."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from e2e.kubectl import Kubectl
from orthrus_operator.api.group import API_VERSION, KIND
from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.planner.containment import missing_field
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.paths import collection_path, orthrus_path
from tests.orthrus_operator.cluster.specs import Spec, Wrong, right_specs, wrong_specs

pytestmark = pytest.mark.cluster

_AT_ONCE = 8


def an_object(namespace: str, spec: Spec, name: str = "fuzzed") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}


async def each(things: Iterable[Any], act: Callable[[Any], Awaitable[Any]]) -> list[Any]:
    """What `act` makes of each thing, a few at once."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(thing: Any) -> Any:
        async with gate:
            return await act(thing)

    return await asyncio.gather(*(one(thing) for thing in things))


async def test_every_wrong_spec_is_refused_by_the_name_of_its_field(
    api: Api, kubectl: Kubectl
) -> None:
    path = collection_path(API_VERSION, KIND, kubectl.namespace)

    async def complaint(wrong: Wrong) -> str | None:
        try:
            await api.create(
                f"{path}?dryRun=All&fieldValidation=Strict",
                an_object(kubectl.namespace, wrong.spec),
            )
        except ApiError as error:
            if error.status in (400, 422) and wrong.field in error.message:
                return None
            return f"{wrong.what}: expected {wrong.field} in: {error.message[:300]}"
        return f"{wrong.what}: accepted"

    wrong = list(wrong_specs())
    assert len(wrong) >= 300
    found = [text for text in await each(wrong, complaint) if text]
    assert not found, "\n".join(found)


async def test_every_right_spec_is_stored_as_sent_and_never_drifts(
    api: Api, kubectl: Kubectl
) -> None:
    """Server-side apply again and again, as GitOps does, changes nothing."""
    unwatched = replace(kubectl, namespace=f"fuzz-{uuid.uuid4().hex[:8]}")
    unwatched("create", "namespace", unwatched.namespace)

    async def stored(spec: Spec) -> bool:
        wanted = an_object(unwatched.namespace, spec, f"right-{uuid.uuid4().hex[:8]}")
        path = orthrus_path(unwatched.namespace, wanted["metadata"]["name"])
        try:
            first = await api.apply(path, wanted)
        except ApiError as error:
            # A rule over two fields, such as requests above limits; the form itself is right.
            assert error.status == 422, error
            return False
        assert missing_field(spec, first["spec"]) is None
        read = OrthrusDeployment.from_object(first).spec
        assert read.model_dump(by_alias=True, mode="json", exclude_none=True) == first["spec"]
        # The default of the status is stored by the first write after the object's creation.
        second = await api.apply(path, wanted)
        assert second["metadata"]["generation"] == 1
        third = await api.apply(path, wanted)
        assert third["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]
        return True

    accepted = await each(right_specs(150), stored)
    unwatched("delete", "namespace", unwatched.namespace, "--wait=false")
    assert sum(accepted) >= 30, f"only {sum(accepted)} of {len(accepted)} were accepted"
