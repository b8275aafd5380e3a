"""Why an adapter cannot be used."""


class AdapterError(Exception):
    """One sentence, for the user, that says what is wrong and what to change.

    `may_pass`: the same source may work a moment later.
    """

    def __init__(self, message: str, *, may_pass: bool = False) -> None:
        super().__init__(message)
        self.may_pass = may_pass


def first_line(error: BaseException) -> str:
    """What an exception says, in one line; its type when it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
