"""Iterative retrieval-generation: a client library, and its benchmark on real text."""
