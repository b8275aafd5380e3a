"""A model of the hub, from `orthrus serve ORG/NAME` to its vectors."""

from pathlib import Path

import httpx
import pytest
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from e2e.hub_stub import Repository, hub_stub
from orthrus_serving.engine.frontend.embedding_space import HEADER
from tests.orthrus_serving.server.asking import embed, vectors
from tests.orthrus_serving.server.replica_process import replica_process

NAME = "orthrus/tiny"

pytestmark = [pytest.mark.engine, pytest.mark.long]


def make_repository(folder: Path, tokenizer: Path) -> Repository:
    """Random weights, and the files that a repository has and no replica downloads or needs."""
    words = AutoTokenizer.from_pretrained(tokenizer)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=512,
        bos_token_id=words.bos_token_id,
        eos_token_id=words.eos_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    words.save_pretrained(folder)
    (folder / ".gitattributes").write_text("*.safetensors filter=lfs\n")
    (folder / "README.md").write_text("# Tiny\n")
    (folder / "pytorch_model.bin").write_text("the same weights, in another format")
    return Repository(NAME, folder)


def answer(folder: Path, **variables: str) -> tuple[str, list[float]]:
    """The embedding space and one vector of a replica that is started with these variables."""
    folder.mkdir()
    with replica_process(folder, model=NAME, **variables) as replica:
        replica.wait_ready()
        with httpx.Client(base_url=replica.url, timeout=300) as http:
            reply = embed(http, "a cat")
            return reply.headers[HEADER], vectors(reply)[0]


def test_it_is_downloaded_and_then_served_without_the_hub(
    tmp_path: Path, sample_model: Path
) -> None:
    """The first start downloads into an empty cache; the second has nothing but the cache."""
    home = str(tmp_path / "home")
    repository = make_repository(tmp_path / "repository", sample_model)
    with hub_stub("127.0.0.1", repository) as endpoint:
        downloaded = answer(tmp_path / "first", HF_HOME=home, HF_ENDPOINT=endpoint)
    assert answer(tmp_path / "second", HF_HOME=home, HF_HUB_OFFLINE="1") == downloaded
    assert not list(Path(home).rglob("*.bin"))
