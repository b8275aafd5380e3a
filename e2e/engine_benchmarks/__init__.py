"""Speed of the engine beside stock vLLM: `make bench-engine`.

Every figure is a ratio of two systems that run in turn on the same cores, in one run.
"""
