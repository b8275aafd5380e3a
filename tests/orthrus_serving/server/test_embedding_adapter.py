"""A replica whose served name means an adapter on /v1/embeddings."""

from pathlib import Path

import httpx
import pytest
import torch

from e2e.waiting import wait_until
from tests.orthrus_serving.engine.reference import assert_same
from tests.orthrus_serving.lora import Lora, PeftModels
from tests.orthrus_serving.server.replica_process import NAME, replica_process

pytestmark = [pytest.mark.engine, pytest.mark.long]

TEXT = "a text about cats"


def test_the_served_name_waits_for_its_embedding_adapter_and_generates_meanwhile(
    sample_model: Path, tmp_path: Path
) -> None:
    peft = PeftModels(sample_model)
    file = tmp_path / "adapters.yaml"
    file.write_text(f"adapters: [{{name: e5, source: {tmp_path / 'e5'}, task: embed}}]")
    flags = [f"--adapters-file={file}", "--embedding-adapter=e5"]
    with replica_process(tmp_path, *flags) as replica:
        replica.wait_ready()

        def embed() -> httpx.Response:
            body = {"model": NAME, "input": TEXT}
            return httpx.post(f"{replica.url}/v1/embeddings", json=body, timeout=60)

        refused = embed()
        assert refused.status_code == 503
        assert refused.headers["retry-after"]
        prompt = {"model": NAME, "prompt": "x", "max_tokens": 1}
        reply = httpx.post(f"{replica.url}/v1/completions", json=prompt, timeout=60)
        assert reply.status_code == 200

        peft.make("e5", Lora(seed=1, rank=4, scale=2.0), tmp_path / "e5")
        wait_until("loaded", lambda: embed().status_code, lambda s: s == 200, within=120)
        found = torch.tensor(embed().json()["data"][0]["embedding"], dtype=torch.float64)
        expected = peft.vector("e5", peft.tokens(TEXT), "mean")
        assert_same(found, torch.nn.functional.normalize(expected, dim=0))
