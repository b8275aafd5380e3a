import pytest

from orthrus_serving.engine.frontend.diagnosis import diagnose
from orthrus_serving.engine.start_error import Reason, StartError


@pytest.mark.parametrize(
    ("root_cause", "reason"),
    [
        ("RuntimeError: Cannot find any model weights with `/m`", Reason.MODEL_NOT_FOUND),
        ("ValueError: To serve a request, 4 GiB KV cache is needed", Reason.OUT_OF_MEMORY),
        ("torch.OutOfMemoryError: CUDA out of memory", Reason.OUT_OF_MEMORY),
        ("ValueError: Model architectures ['X'] are not supported", Reason.MODEL_UNSUPPORTED),
        ("KeyError: 'x'", Reason.START_FAILED),
    ],
)
def test_the_root_cause_decides_and_is_what_is_said(root_cause: str, reason: Reason) -> None:
    error = diagnose(RuntimeError("Engine core initialization failed"), root_cause)
    assert error.reason is reason
    assert str(error) == root_cause


def test_a_killed_engine_process_was_out_of_memory() -> None:
    error = RuntimeError("Engine core failed. Failed core proc(s): {'EngineCore': -9}")
    assert diagnose(error).reason is Reason.OUT_OF_MEMORY


def test_our_own_refusals_pass_unchanged() -> None:
    error = StartError(Reason.INVALID_ARGUMENTS, "no")
    assert diagnose(error) is error
