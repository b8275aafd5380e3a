"""The figures of the paper's Tables 3, 4, 5 and 10 that are known, by name."""

PUBLISHED = {
    # Table 3: queries per second.
    "T3 4 GPUs Orthrus": 0.624,
    "T3 4 GPUs Disagg-PD": 0.603,
    "T3 4 GPUs Unified-Homo": 0.548,
    "T3 4 GPUs Dedicated": 0.260,
    # Table 4: seconds.
    "T4 1 GPU Orthrus": 573.9,
    "T4 1 GPU Unified-Homo": 673.4,
    "T4 2 GPUs Orthrus": 600.5,
    "T4 2 GPUs Disagg-PD": 602.6,
    "T4 4 GPUs Orthrus": 593.4,
    "T4 4 GPUs Dedicated": 1342.0,
    # Table 5, Mistral-7B: requests per second.
    "T5 9:1 Dedicated embeddings": 15.64,
    "T5 9:1 Dedicated generations": 1.49,
    "T5 9:1 Orthrus embeddings": 58.80,
    "T5 9:1 Orthrus generations": 7.00,
    "T5 5:5 Dedicated embeddings": 12.54,
    "T5 5:5 Dedicated generations": 11.97,
    "T5 5:5 Orthrus embeddings": 25.32,
    "T5 5:5 Orthrus generations": 26.24,
    "T5 1:9 Dedicated embeddings": 5.10,
    "T5 1:9 Dedicated generations": 29.56,
    "T5 1:9 Orthrus embeddings": 4.20,
    "T5 1:9 Orthrus generations": 39.10,
    # Table 10: seconds; of the embeddings the paper gives ranges over 256 to 4,096 tokens, of
    # which these are the ends.
    "T10 256 generation p99": 7.06,
    "T10 4096 generation p99": 79.68,
    "T10 embedding p50, lowest": 0.05258,
    "T10 embedding p50, highest": 0.05462,
    "T10 embedding p99, lowest": 0.05309,
    "T10 embedding p99, highest": 0.05992,
}

FITTED_TO = {
    "T3 4 GPUs Orthrus": "queries in flight and iterations",
    "T4 4 GPUs Orthrus": "queries in flight and iterations",
    "T5 9:1 Dedicated embeddings": "front end, per vector",
    "T5 1:9 Dedicated generations": "front end, per token",
    "T10 4096 generation p99": "fixed time of a step",
}
"""Cells that a constant was fitted to; all others are predictions."""
