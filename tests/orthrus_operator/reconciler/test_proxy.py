"""The environment's proxy is honoured, though aiohttp is not asked to look for it."""

from pathlib import Path

import pytest

from orthrus_operator.reconciler.client import Api
from tests.orthrus_operator.making import kubeconfig


@pytest.mark.parametrize(
    ("exempt", "proxy"), [("", "http://proxy.invalid:3128"), ("127.0.0.1", None)]
)
async def test_as_kubectl_does(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    exempt: str,
    proxy: str | None,
) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path))
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:3128")
    monkeypatch.setenv("no_proxy", exempt)
    api = await Api.connect()
    assert api._client.configuration.proxy == proxy
    await api.close()
