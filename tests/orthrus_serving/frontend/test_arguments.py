import argparse

import pytest

from orthrus_serving.engine.frontend.arguments import ServeParser, api_keys, build_parser, parse
from orthrus_serving.engine.frontend.orthrus_flags import engine_settings
from orthrus_serving.engine.frontend.vllm_flags import ALLOWED, REFUSED
from orthrus_serving.engine.start_error import Reason, StartError


@pytest.fixture(scope="module")
def parser() -> ServeParser:
    return build_parser()


def test_every_flag_we_name_is_one_of_vllm(parser: ServeParser) -> None:
    known = {action.dest for action in parser._actions}
    assert known >= ALLOWED | set(REFUSED)
    assert not ALLOWED & set(REFUSED)


def test_allowed_flags_and_ours_are_taken() -> None:
    parsed = parse(["model", "--max-model-len", "256", "--embedding-pooling", "last"])
    assert (parsed.model, parsed.max_model_len, parsed.embedding_pooling) == ("model", 256, "last")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tensor-parallel-size", "2"], "--tensor-parallel-size of vLLM is refused"),
        (["-tp", "2"], "run more replicas"),
        (["--no-enable-chunked-prefill"], "always on"),
        (["--stream-interval=2"], "--stream-interval"),
        (["--speculative-config", "{}"], "draft tokens"),
        (["--scheduling-policy", "priority"], "--batch-policy"),
        (["--lora-modules", "a=/a"], "--adapters-file"),
        (["--max-num-queued-reqs", "4"], "never tested"),
        (["--runner", "pooling"], "--embedding-pooling"),
        (["--config", "flags.yaml"], "write the flags out"),
        (["--enable-request-id-headers"], "always echoed"),
        (["--max-body-bytes", "0"], "--max-body-bytes"),
        (["--no-such-flag"], "--no-such-flag"),
    ],
)
def test_other_flags_are_refused_by_name_with_a_reason(arguments: list[str], said: str) -> None:
    with pytest.raises(StartError, match=said) as refusal:
        parse(["model", *arguments])
    assert refusal.value.reason is Reason.INVALID_ARGUMENTS


def test_a_model_is_needed() -> None:
    with pytest.raises(StartError, match="name the model"):
        parse(["--port", "8000"])


def test_help_shows_ours_in_one_group_and_no_refused_flag(parser: ServeParser) -> None:
    text = parser.format_help()
    ours = text.split("\nOrthrus:\n")[1]
    for flag in (
        "embedding-pooling",
        "embedding-normalize",
        "batch-policy",
        "max-queued-tokens",
        "max-connection-age",
    ):
        assert f"--{flag}" in ours
    assert "--max-model-len" in text
    assert "--tensor-parallel-size" not in text


def test_keys_come_from_the_flag_or_else_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    assert api_keys(parse(["model"])) == []
    monkeypatch.setenv("VLLM_API_KEY", "of-environment")
    assert api_keys(parse(["model"])) == ["of-environment"]
    assert api_keys(parse(["model", "--api-key", "a", "b"])) == ["a", "b"]


@pytest.mark.parametrize("key", ["", "key\n", " ", "schlüssel"])
def test_a_key_that_would_open_or_lock_the_replica_is_refused(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", key)
    with pytest.raises(StartError, match="API key"):
        api_keys(parse(["model"]))


def test_keys_come_from_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    assert api_keys(parse(["model", "--api-key-file", "keys"])) == []
    with pytest.raises(StartError, match="use one"):
        api_keys(parse(["model", "--api-key-file", "keys", "--api-key", "a"]))


def _sizes(**changed: float | None) -> argparse.Namespace:
    sizes: dict[str, object] = {
        "max_num_batched_tokens": 64,
        "max_num_seqs": 8,
        "embedding_chunk_tokens": None,
        "min_opportunities": 1,
        "embedding_pooling": "mean",
        "batch_policy": "ibs",
        "max_inter_token_millis": None,
        "max_queued_tokens": 64,
    }
    return argparse.Namespace(**sizes | changed)


def test_a_chunk_is_never_larger_than_the_budget_by_default() -> None:
    assert engine_settings(_sizes()).embedding_chunk_tokens == 64
    assert engine_settings(_sizes(max_num_batched_tokens=2048)).embedding_chunk_tokens == 512


def test_an_inter_token_target_reaches_the_scheduler() -> None:
    target = parse(["model", "--max-inter-token-millis", "37.5"]).max_inter_token_millis
    assert engine_settings(_sizes(max_inter_token_millis=target)).max_inter_token_millis == 37.5
    assert engine_settings(_sizes()).max_inter_token_millis is None


@pytest.mark.parametrize(
    "changed",
    [
        {"embedding_chunk_tokens": 65},
        {"embedding_chunk_tokens": 0},
        {"max_num_seqs": 64},
        {"max_num_seqs": 1},
        {"min_opportunities": -1},
        {"max_inter_token_millis": 0.0},
        {"max_inter_token_millis": -5.0},
        {"max_inter_token_millis": float("nan")},
        {"max_inter_token_millis": float("inf")},
        {"max_queued_tokens": 0},
    ],
)
def test_sizes_that_cannot_be_scheduled_are_refused(changed: dict[str, float]) -> None:
    (flag,) = changed
    with pytest.raises(ValueError, match=flag.replace("_", "-")):
        engine_settings(_sizes(**changed))


def test_a_head_of_another_package_is_found_by_its_name() -> None:
    settings = engine_settings(parse(["model", "--embedding-pooling", "max"]))
    assert settings.embedding_pooling == "max"


def test_a_head_that_cannot_be_loaded_is_refused_at_start() -> None:
    parsed = parse(["model", "--embedding-pooling", "missing"])
    with pytest.raises(ValueError, match=r"missing cannot be loaded.*orthrus_no_such_module"):
        engine_settings(parsed)
