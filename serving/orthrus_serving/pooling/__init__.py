"""Incremental pooling of hidden states, chunk by chunk (paper §3)."""
