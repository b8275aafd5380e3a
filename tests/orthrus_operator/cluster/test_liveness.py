"""When the kubelet is to start an operator again, its probe fails or it ends by itself."""

import asyncio

import aiohttp
import pytest

from e2e.kubectl import Kubectl
from orthrus_operator.handlers import operator as handlers
from orthrus_operator.handlers import watches
from orthrus_operator.handlers.settings import OperatorSettings
from orthrus_operator.reconciler.outcome import ObjectKey, Outcome
from orthrus_operator.reconciler.reconcile import Reconciler
from tests.orthrus_operator.cluster.connection import free_port
from tests.orthrus_operator.cluster.fault_proxy import Fault
from tests.orthrus_operator.cluster.operator_process import Operator
from tests.orthrus_operator.cluster.subject import Subject

pytestmark = pytest.mark.cluster


@pytest.fixture
def settings(
    kubectl: Kubectl, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> OperatorSettings:
    """Of an operator in this process, beside the one that works."""
    monkeypatch.setenv("KUBECONFIG", str(operator.kubeconfig))
    return OperatorSettings(
        namespaces=(kubectl.namespace,),
        liveness_port=int(free_port()),
        metrics_port=int(free_port()),
    )


async def probe(settings: OperatorSettings) -> int | None:
    """What the kubelet sees; None where nothing listens."""
    return await asked(f"http://127.0.0.1:{settings.liveness_port}/healthz")


async def asked(url: str) -> int | None:
    timeout = aiohttp.ClientTimeout(total=5)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as client, client.get(url) as answer:
            return answer.status
    except aiohttp.ClientConnectionError:
        return None


async def test_the_probe_fails_once_no_look_ends(
    demo: Subject, settings: OperatorSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(_: Reconciler, __: ObjectKey) -> Outcome:
        await asyncio.Event().wait()
        return Outcome.DONE

    monkeypatch.setattr(Reconciler, "reconcile", hang)
    monkeypatch.setattr(watches, "_LONGEST_STANDSTILL_SECONDS", 3.0)
    working = asyncio.create_task(handlers.operate(settings))
    try:
        seen: list[int] = []
        async with asyncio.timeout(60):
            while 500 not in seen:
                if status := await probe(settings):
                    seen.append(status)
                await asyncio.sleep(0.2)
        assert set(seen) == {200, 500}
    finally:
        working.cancel()
        await asyncio.wait([working])


async def test_an_api_server_that_fails_is_waited_for(
    operator: Operator, settings: OperatorSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer than for a CRD: each start anew would come later than the one before."""
    monkeypatch.setattr(handlers, "_SCHEMA_WAIT_SECONDS", 1.0)
    monkeypatch.setattr(handlers, "_POLL_SECONDS", 0.2)
    seen: list[int | None] = []
    with operator.proxy.fault(Fault("^", 503)):
        working = asyncio.create_task(handlers.operate(settings))
        for _ in range(20):
            await asyncio.sleep(0.2)
            seen.append(await probe(settings))
    assert not working.done()
    assert seen[-1] == 200
    try:
        async with asyncio.timeout(30):
            while await asked(f"http://127.0.0.1:{settings.metrics_port}/metrics") != 200:
                assert not working.done()
                await asyncio.sleep(0.2)
    finally:
        working.cancel()
        await asyncio.wait([working])


async def test_without_its_crd_it_answers_no_probe_and_ends(
    operator: Operator, settings: OperatorSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handlers, "_SCHEMA_WAIT_SECONDS", 3.0)
    seen: list[int | None] = []
    with operator.proxy.fault(Fault("^GET /openapi/v3/apis/serving.orthrus.io", 404)):
        working = asyncio.create_task(handlers.operate(settings))
        while not working.done():
            seen.append(await probe(settings))
            await asyncio.sleep(0.2)
    assert not any(seen[1:])  # the first may find it before the API server has said a word
    with pytest.raises(handlers.StartError, match="CRD of OrthrusDeployment is not installed"):
        await working
