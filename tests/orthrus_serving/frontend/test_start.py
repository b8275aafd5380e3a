import pytest

from orthrus_serving.engine.frontend.start import start
from orthrus_serving.engine.start_error import Reason, StartError


@pytest.mark.parametrize(
    "name",
    [
        "VLLM_SERVER_DEV_MODE",
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING",
        "VLLM_DISABLE_REQUEST_ID_RANDOMIZATION",
    ],
)
def test_a_variable_that_would_break_the_replica_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(StartError, match=f"{name} is set: .*unset it") as refusal:
        start(["model"])
    assert refusal.value.reason is Reason.INVALID_ARGUMENTS
