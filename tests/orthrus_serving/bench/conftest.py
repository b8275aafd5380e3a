"""Hypothesis on a shared machine: no deadline per example, and the same examples in each run."""

from hypothesis import settings

settings.register_profile("bench", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("bench")
