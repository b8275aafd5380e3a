"""The replica's command line says what the spec says."""

from hypothesis import given
from hypothesis import strategies as st

from orthrus_operator.builders.arguments import serve_arguments
from tests.orthrus_operator.making import demo


def test_the_smallest_spec_spells_every_default_out() -> None:
    """A replica's own defaults may change with its image; what the spec promises may not."""
    assert serve_arguments(demo()) == [
        "serve",
        "org/model",
        "--served-model-name=demo",
        "--embedding-pooling=mean",
        "--embedding-normalize",
        "--batch-policy=ibs",
        "--max-num-batched-tokens=2048",
        "--embedding-chunk-tokens=512",
        "--min-opportunities=1",
        "--max-queued-tokens=262144",
        "--max-num-seqs=256",
        "--drain-timeout=120",
    ]


def test_every_field_reaches_its_flag() -> None:
    arguments = serve_arguments(
        demo(
            model={"source": "hf://org/model", "revision": "abc", "servedName": "other"},
            embedding={"pooling": "last", "normalize": False},
            scheduling={
                "policy": "fcfs",
                "maxBatchedTokens": 64,
                "embeddingChunkTokens": 32,
                "minOpportunities": 0,
                "maxQueuedTokens": 4096,
                "maxInterTokenMillis": 50,
                "maxSequences": 8,
            },
            drainSeconds=7,
            auth={"apiKeySecretRef": {"name": "keys", "key": "all"}},
        )
    )
    assert arguments[1:] == [
        "org/model",
        "--served-model-name=other",
        "--revision=abc",
        "--embedding-pooling=last",
        "--no-embedding-normalize",
        "--batch-policy=fcfs",
        "--max-num-batched-tokens=64",
        "--embedding-chunk-tokens=32",
        "--min-opportunities=0",
        "--max-queued-tokens=4096",
        "--max-inter-token-millis=50",
        "--max-num-seqs=8",
        "--drain-timeout=7",
        "--api-key-file=/etc/orthrus/api-keys/keys",
    ]


def test_a_claim_is_served_from_where_it_is_mounted() -> None:
    assert serve_arguments(demo("pvc://models/smollm2"))[1] == "/models/models/smollm2"
    assert serve_arguments(demo("pvc://models"))[1] == "/models/models"


def test_a_folder_of_the_node_and_an_image_are_served_from_where_they_are_mounted() -> None:
    assert serve_arguments(demo("host:///mnt/models/m"))[1] == "/models/host"
    assert serve_arguments(demo("oci://registry.example/m:1"))[1] == "/models/image"


def test_engine_arguments_are_flags_by_the_three_forms() -> None:
    extra = {
        "gpu-memory-utilization": "0.9",
        "enforce-eager": "true",
        "enable-prefix-caching": "false",
        "chat-template": "--looks-like-a-flag",
    }
    assert serve_arguments(demo(engineArgs=extra))[-4:] == [
        "--chat-template=--looks-like-a-flag",
        "--no-enable-prefix-caching",
        "--enforce-eager",
        "--gpu-memory-utilization=0.9",
    ]


@given(st.permutations(["dtype", "seed", "max-model-len", "block-size"]))
def test_the_order_of_engine_arguments_does_not_roll_pods(order: list[str]) -> None:
    given_order, sorted_order = (
        serve_arguments(demo(engineArgs=dict.fromkeys(names, "1")))
        for names in (order, sorted(order))
    )
    assert given_order == sorted_order
