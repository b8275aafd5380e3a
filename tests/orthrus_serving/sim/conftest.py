"""Hypothesis on a shared machine: no deadline per example, and the same examples in each run."""

from hypothesis import settings

settings.register_profile("sim", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("sim")
