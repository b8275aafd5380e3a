"""Orthrus data plane: embedding and generation from one vLLM engine, in the same batch."""
