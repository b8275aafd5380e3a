"""What every test run does, those of `tests` and of `e2e`."""

import gc

# To import vLLM and torch makes millions of objects that live to the end of the run: to look
# through them over and over for garbage is half of the time that collecting the tests takes.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on garbage is collected, and what was imported is no part of it."""
    gc.freeze()
    gc.enable()
