"""The binding to vLLM 0.32: the only package that imports it."""
