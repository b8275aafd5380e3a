"""Why a replica could not start, in the words that the operator shows in its conditions."""

from enum import StrEnum


class Reason(StrEnum):
    MODEL_NOT_FOUND = "ModelNotFound"
    MODEL_UNSUPPORTED = "ModelUnsupported"
    INVALID_ARGUMENTS = "InvalidArguments"
    OUT_OF_MEMORY = "OutOfMemory"
    START_FAILED = "StartFailed"


class StartError(Exception):
    """A start that failed for a reason that the user can act on."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
