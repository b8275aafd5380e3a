"""Turns whatever stopped a start into a reason and one sentence."""

from collections.abc import Iterator

import huggingface_hub.errors as hub

from orthrus_serving.engine.start_error import Reason, StartError

_HUB_ERRORS = (
    hub.GatedRepoError,
    hub.RepositoryNotFoundError,
    hub.RevisionNotFoundError,
    hub.EntryNotFoundError,
    hub.HFValidationError,
    hub.OfflineModeIsEnabled,
)

_SAID = (
    ("cannot find any model weights", Reason.MODEL_NOT_FOUND),
    ("is not a valid model identifier", Reason.MODEL_NOT_FOUND),
    ("invalid repository id", Reason.MODEL_NOT_FOUND),
    ("can't load the configuration", Reason.MODEL_NOT_FOUND),
    ("couldn't connect to", Reason.MODEL_NOT_FOUND),
    ("out of memory", Reason.OUT_OF_MEMORY),
    ("can't allocate memory", Reason.OUT_OF_MEMORY),
    ("kv cache is needed", Reason.OUT_OF_MEMORY),
    ("no available memory", Reason.OUT_OF_MEMORY),
    ("requested memory for kv", Reason.OUT_OF_MEMORY),
    ("free memory on device", Reason.OUT_OF_MEMORY),
    ("exitcode: -9", Reason.OUT_OF_MEMORY),
    ("'enginecore': -9", Reason.OUT_OF_MEMORY),
    ("not supported", Reason.MODEL_UNSUPPORTED),
    ("does not support", Reason.MODEL_UNSUPPORTED),
    ("does not recognize this architecture", Reason.MODEL_UNSUPPORTED),
)
"""What vLLM, transformers and torch say, in lower case; the first that matches wins."""


def diagnose(error: BaseException, root_cause: str | None = None) -> StartError:
    """`root_cause` is what the engine process noted (`root_cause.py`), if it did."""
    if isinstance(error, StartError):
        return error
    for cause in _chain(error):
        if isinstance(cause, _HUB_ERRORS):
            return StartError(Reason.MODEL_NOT_FOUND, str(cause))
        if isinstance(cause, MemoryError):
            return StartError(Reason.OUT_OF_MEMORY, str(cause) or "out of memory")
    message = root_cause or f"{type(error).__name__}: {error}"
    for said, reason in _SAID:
        if said in message.lower():
            return StartError(reason, message)
    return StartError(Reason.START_FAILED, message)


def _chain(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__
